package io.github.hedgesched.yarn;

import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;

/** One task of the gang and what is known of it. Only the loop of {@link GangMaster} uses it. */
final class Task {
  final int rank;
  final String node;
  /** What stands for it at the ResourceManager as long as it has no container. */
  ContainerRequest request;
  Container container;
  /** Its NodeManager was asked to start it. */
  boolean launched;
  /** It did not, or its answer got lost. */
  boolean refused;
  /** It was seen to run, or has ended well. */
  boolean started;
  boolean ended;
  /** Its NodeManager was asked how it is and has not answered yet. */
  boolean asked;

  Task(int rank, String node) {
    this.rank = rank;
    this.node = node;
  }
}
