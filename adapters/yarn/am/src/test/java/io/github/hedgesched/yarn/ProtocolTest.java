package io.github.hedgesched.yarn;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.Test;

/** What the driver's tests read and write too. */
public class ProtocolTest {
  private static final File DATA = new File("../testdata/protocol");

  private static byte[] bytes(String name) throws IOException {
    return Files.readAllBytes(Path.of(DATA.getPath(), name));
  }

  private static String text(String name) throws IOException {
    return new String(bytes(name), "UTF-8").strip();
  }

  @Test public void gangs() throws IOException {
    for (String name : List.of("gang", "gang-wide")) {
      assertEquals(Gang.read(bytes(name + ".json")), Gang.decode(text(name + ".env")));
    }
    Gang g = Gang.decode(text("gang.env"));
    assertEquals(List.of(new Gang.OnNode("127.0.0.1:8188", 2), new Gang.OnNode("127.0.0.1:8198", 1)), g.nodes());
    assertEquals("export A='it'\\''s $HOME `id` {{X}} <LOG_DIR>'\nexec sleep 5\n", g.script());
    assertEquals(new Gang("train-42", 3, g.nodes(), 64, 1, "", 60000, g.script()), g);
    List<Task> tasks = g.expand();
    assertEquals("127.0.0.1:8188", tasks.get(1).node);
    assertEquals("127.0.0.1:8198", tasks.get(2).node);
    assertEquals(1000, Gang.decode(text("gang-wide.env")).tasks());
  }

  @Test public void badGangs() throws IOException {
    File[] bad = DATA.listFiles((dir, name) -> name.startsWith("bad-"));
    assertTrue(bad.length > 0);
    for (File f : bad) {
      assertThrows(f.getName(), IOException.class, () -> Gang.read(Files.readAllBytes(f.toPath())));
    }
    String good = text("gang.json");
    for (String[] change : new String[][] {{"\"attempt\":3", "\"attempt\":\"3\""}, {"\"attempt\":3", "\"attempt\":3.5"}, {"\"job\":\"train-42\"", "\"job\":null"},
        {"\"attempt\":3", "\"attempt\":3,\"attempt\":3"}, {"127.0.0.1:8188", "somewhere"}, {"train-42", "train 42"}, {"60000", "0"}}) {
      assertTrue(change[0], good.contains(change[0]));
      assertThrows(change[1], IOException.class, () -> Gang.read(good.replace(change[0], change[1]).getBytes()));
    }
    assertThrows(IOException.class, () -> Gang.read((good + "{}").getBytes()));
    assertThrows(IllegalArgumentException.class, () -> Gang.decode(null));
    assertThrows(IllegalArgumentException.class, () -> Gang.decode("%"));
    assertThrows(IOException.class, () -> Gang.decode("aGVsbG8="));
  }

  @Test public void statuses() throws IOException {
    assertEquals(text("status-running.json"), new Status(3, "running", 3, 1700000000123L, 0, "", List.of()).json());
    assertEquals(text("status-succeeded.json"), new Status(3, "succeeded", 3, 1700000000123L, 1700000005123L, "", List.of()).json());
    assertEquals(text("status-failed.json"), new Status(3, "failed", 3, 1700000000123L, 1700000004000L, "task",
        List.of(new Status.Failure(1, "127.0.0.1:8188", 3, "Exception from container-launch: \u00fc \"quoted\"\n"))).json());
    assertEquals(text("status-short.json"), new Status(3, "failed", 2, 0, 0, "short",
        List.of(new Status.Failure(2, "127.0.0.1:8198", -1, "not allocated"))).json());
  }
}
