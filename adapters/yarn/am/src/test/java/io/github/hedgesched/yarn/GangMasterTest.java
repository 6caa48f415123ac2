package io.github.hedgesched.yarn;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.yarn.exceptions.YarnException;
import org.junit.Test;

/** What is made of the words of Hadoop 3.4. */
public class GangMasterTest {
  @Test public void lost() {
    String own = "Exception from container-launch.\nContainer id: container_1_0001_01_000002\nExit code: 154\n";
    String missed = "[2026-11-22 18:18:32.023]Container exited with a non-zero exit code 154\n";
    assertTrue(GangMaster.lost(-100, "Container released on a *lost* node"));
    assertTrue("it ended while its NodeManager was away", GangMaster.lost(154, missed));
    assertTrue(GangMaster.lost(154, null));
    assertFalse("its own exit code", GangMaster.lost(154, own));
    assertFalse(GangMaster.lost(3, missed));
    assertFalse(GangMaster.lost(143, null));
  }

  @Test public void unknown() {
    assertTrue(GangMaster.unknown(new YarnException("Container container_1_0001_01_000002 is not handled by this NodeManager")));
    assertTrue(GangMaster.unknown(new YarnException("Container container_1_0001_01_000002 was recently stopped on node manager.")));
    assertFalse(GangMaster.unknown(new YarnException("Container container_1_0001_01_000002 is recovering, try later")));
    assertFalse(GangMaster.unknown(new java.io.IOException()));
  }
}
