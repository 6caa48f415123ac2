package io.github.hedgesched.yarn;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.zip.GZIPOutputStream;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.SecretManager;
import org.apache.hadoop.security.token.TokenIdentifier;
import org.apache.hadoop.yarn.api.ApplicationMasterProtocol;
import org.apache.hadoop.yarn.api.ContainerManagementProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.protocolrecords.FinishApplicationMasterResponse;
import org.apache.hadoop.yarn.api.protocolrecords.GetContainerStatusesResponse;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterResponse;
import org.apache.hadoop.yarn.api.protocolrecords.StartContainersResponse;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.ContainerSubState;
import org.apache.hadoop.yarn.api.records.NMToken;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.Token;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.ipc.YarnRPC;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.apache.hadoop.yarn.security.NMTokenIdentifier;

/**
 * Runs a gang of one task with a ResourceManager and a NodeManager that are made up, in this process, so that the Java machine can archive the classes that an
 * ApplicationMaster loads. No cluster is needed, and nothing is launched.
 */
final class Rehearsal {
  private static final ApplicationAttemptId ATTEMPT = ApplicationAttemptId.newInstance(ApplicationId.newInstance(1, 1), 1);
  private static final ContainerId CONTAINER = ContainerId.newContainerId(ATTEMPT, 2);
  private static final Resource SIZE = Resource.newInstance(1, 1);
  private static final byte[] PASSWORD = new byte[8];

  private final YarnConfiguration conf = new YarnConfiguration();
  private final NodeId node;
  private int answers;
  private volatile boolean seen;

  public static void main(String[] args) throws Exception {
    System.exit(new Rehearsal().run());
  }

  private Rehearsal() throws IOException {
    InetSocketAddress manager = serve(ApplicationMasterProtocol.class, AMRMTokenIdentifier::new);
    InetSocketAddress own = serve(ContainerManagementProtocol.class, NMTokenIdentifier::new);
    node = NodeId.newInstance(own.getHostName(), own.getPort());
    String at = manager.getHostName() + ":" + manager.getPort();
    conf.set(YarnConfiguration.RM_SCHEDULER_ADDRESS, at);
    byte[] identifier = new AMRMTokenIdentifier(ATTEMPT, 1).getBytes();
    UserGroupInformation.getCurrentUser().addToken(
        new org.apache.hadoop.security.token.Token<>(identifier, PASSWORD, AMRMTokenIdentifier.KIND_NAME, new Text(at)));
  }

  private int run() throws Exception {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
      out.write(String.format("{\"protocol\":%d,\"job\":\"rehearsal\",\"attempt\":1,\"nodes\":[{\"node\":\"%s\",\"tasks\":1}],\"memory-mb\":1,\"vcores\":1,"
          + "\"label\":\"\",\"timeout-ms\":600000,\"script\":\"true\"}", Gang.PROTOCOL, node).getBytes(StandardCharsets.UTF_8));
    }
    return GangMaster.start(Base64.getEncoder().encodeToString(packed.toByteArray()), conf);
  }

  private InetSocketAddress serve(Class<?> protocol, Supplier<TokenIdentifier> identifier) {
    Object made = Proxy.newProxyInstance(protocol.getClassLoader(), new Class<?>[] {protocol}, (self, method, args) -> answer(method));
    Server server = YarnRPC.create(conf).getServer(protocol, made, new InetSocketAddress("localhost", 0), conf, new Secrets(identifier), 1);
    server.start();
    return server.getListenerAddress();
  }

  /** What ResourceManager and NodeManager answer: the one container is there, runs, and has ended well when that has been seen. */
  private synchronized Object answer(Method method) {
    return switch (method.getName()) {
      case "registerApplicationMaster" -> RegisterApplicationMasterResponse.newInstance(SIZE, SIZE, Map.of(), null, List.of(), "default", List.of());
      case "allocate" -> allocated();
      case "finishApplicationMaster" -> FinishApplicationMasterResponse.newInstance(true);
      case "startContainers" -> StartContainersResponse.newInstance(Map.of(), List.of(CONTAINER), Map.of());
      case "getContainerStatuses" -> {
        seen = true;
        yield GetContainerStatusesResponse.newInstance(List.of(status(ContainerState.RUNNING)), Map.of());
      }
      default -> throw new UnsupportedOperationException(method.getName());
    };
  }

  private AllocateResponse allocated() {
    List<ContainerStatus> ended = seen ? List.of(status(ContainerState.COMPLETE)) : List.of();
    AllocateResponse answer = AllocateResponse.newInstance(answers++, ended, List.of(), List.of(), SIZE, null, 1, null, List.of());
    if (answers == 2) { // the first was asked for nothing yet
      Token token = Token.newInstance(new NMTokenIdentifier(ATTEMPT, node, "nobody", 1).getBytes(), NMTokenIdentifier.KIND.toString(), PASSWORD, node.toString());
      answer.setAllocatedContainers(List.of(Container.newInstance(CONTAINER, node, "", SIZE, Priority.newInstance(1), token)));
      answer.setNMTokens(List.of(NMToken.newInstance(node, token)));
    }
    return answer;
  }

  private static ContainerStatus status(ContainerState state) {
    ContainerStatus s = ContainerStatus.newInstance(CONTAINER, state, "", 0);
    s.setContainerSubState(state == ContainerState.RUNNING ? ContainerSubState.RUNNING : ContainerSubState.DONE);
    return s;
  }

  /** Takes each caller for who it says it is. */
  private static final class Secrets extends SecretManager<TokenIdentifier> {
    private final Supplier<TokenIdentifier> identifier;

    Secrets(Supplier<TokenIdentifier> identifier) {
      this.identifier = identifier;
    }

    @Override public TokenIdentifier createIdentifier() { return identifier.get(); }
    @Override protected byte[] createPassword(TokenIdentifier of) { return PASSWORD; }
    @Override public byte[] retrievePassword(TokenIdentifier of) { return PASSWORD; }
  }
}
