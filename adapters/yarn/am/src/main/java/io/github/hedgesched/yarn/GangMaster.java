package io.github.hedgesched.yarn;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.ContainerSubState;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.NodeReport;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.UpdatedContainer;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.client.api.async.AMRMClientAsync;
import org.apache.hadoop.yarn.client.api.async.NMClientAsync;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * The ApplicationMaster of one gang: it gets all containers on the nodes that the driver has chosen, then starts all tasks, and ends with the last
 * of them or with the first that fails. It starts nothing before it has all containers.
 *
 * <p>All that changes the gang's state runs in the thread of {@link #run}; what the clients' threads have to say is put into a queue for it.
 */
public final class GangMaster {
  private static final int HEARTBEAT_MILLIS = 250;
  /** The same while containers are waited for, but not for longer than {@link #HASTE_MILLIS}: a ResourceManager has many to answer. */
  private static final int HASTY_HEARTBEAT_MILLIS = 50;
  private static final long HASTE_MILLIS = 10_000;
  /** How long tasks that were told to stop are waited for. Their NodeManagers kill them before that. */
  private static final long STOP_MILLIS = 60_000;
  /** After that long without word from the ResourceManager, NodeManagers are asked how their tasks are. */
  private static final long SILENCE_MILLIS = 3_000;
  private static final Priority PRIORITY = Priority.newInstance(1);
  /** Ends that are not the task's own doing: its node, the scheduler or an operator took its container. */
  private static final Set<Integer> LOST = Set.of(ContainerExitStatus.ABORTED, ContainerExitStatus.DISKS_FAILED, ContainerExitStatus.PREEMPTED,
      ContainerExitStatus.KILLED_BY_APPMASTER, ContainerExitStatus.KILLED_BY_RESOURCEMANAGER, ContainerExitStatus.KILLED_AFTER_APP_COMPLETION,
      ContainerExitStatus.KILLED_BY_CONTAINER_SCHEDULER);
  /** The exit code where the ResourceManager was gone for too long, or has told this program to end. Java's own, for too little memory, is 3. */
  private static final int SHUTDOWN = 4;
  /** What NodeManagers say of a task whose end they have missed while they were away themselves. */
  private static final int MISSED = 154;

  private enum Phase { ASKING, STARTING, RUNNING, STOPPING }

  private final Gang gang;
  private final YarnConfiguration conf;
  private final List<Task> tasks;
  private final Map<ContainerId, Task> byContainer = new HashMap<>();
  private final List<Status.Failure> failed = new ArrayList<>();
  private final BlockingQueue<Runnable> events = new LinkedBlockingQueue<>();
  private final AMRMClientAsync<ContainerRequest> rm = AMRMClientAsync.createAMRMClientAsync(HASTY_HEARTBEAT_MILLIS, new FromResourceManager());
  private final NMClientAsync nm = NMClientAsync.createNMClientAsync(new FromNodeManagers());

  private Phase phase = Phase.ASKING;
  private String state = "asking";
  private String cause = "";
  private long startedMillis;
  private long endedMillis;
  private long deadline;
  private long nextPoll;
  /** Until when heartbeats are hasty; 0 when they are not any more. */
  private long haste;
  private long epoch;
  private volatile long heard;
  private volatile float progress = 0.1f;
  private volatile byte[] status = new byte[0];

  private GangMaster(Gang gang, YarnConfiguration conf) {
    this.gang = gang;
    this.conf = conf;
    this.tasks = gang.expand();
  }

  /**
   * Runs the gang that {@code HEDGE_GANG} describes. Exits with 0 if all tasks ended well, 1 if not, 2 if the description makes no sense, and {@link #SHUTDOWN}.
   */
  public static void main(String[] args) {
    int code = 1;
    try {
      code = start(System.getenv("HEDGE_GANG"), new YarnConfiguration());
    } catch (Throwable t) { // YARN ends the containers of an ApplicationMaster that has failed
      t.printStackTrace();
    }
    Runtime.getRuntime().halt(code); // the clients' threads would keep the process alive
  }

  static int start(String encoded, YarnConfiguration conf) throws Exception {
    Gang gang;
    try {
      gang = Gang.decode(encoded);
    } catch (IOException | RuntimeException e) {
      e.printStackTrace();
      refuse(conf);
      return 2;
    }
    return new GangMaster(gang, conf).run();
  }

  /** Tells the driver that it has asked for something that makes no sense. */
  private static void refuse(YarnConfiguration conf) throws Exception {
    GangMaster none = new GangMaster(new Gang("", 0, List.of(), 0, 0, "", 0, ""), conf);
    none.state = "failed";
    none.cause = "input";
    none.publish();
    none.connect();
    none.unregister(FinalApplicationStatus.FAILED);
  }

  private int run() throws Exception {
    publish();
    connect();
    deadline = now() + gang.timeoutMillis();
    haste = now() + HASTE_MILLIS;
    while (!over()) {
      Runnable event = events.poll(phase == Phase.STARTING ? 50 : 100, TimeUnit.MILLISECONDS);
      for (; event != null; event = events.poll()) {
        event.run();
      }
      step();
      publish();
    }
    boolean well = phase != Phase.STOPPING;
    state = well ? "succeeded" : "failed";
    publish();
    if (cause.equals("shutdown")) {
      return SHUTDOWN; // the ResourceManager does not listen
    }
    unregister(well ? FinalApplicationStatus.SUCCEEDED : FinalApplicationStatus.FAILED);
    return well ? 0 : 1;
  }

  /** Registers, with an address where the status can be read. */
  private void connect() throws Exception {
    conf.setInt(YarnConfiguration.NM_CLIENT_ASYNC_THREAD_POOL_MAX_SIZE, 32);
    conf.setLong(YarnConfiguration.CLIENT_NM_CONNECT_MAX_WAIT_MS, 20_000); // a node that is away longer is not waited for
    conf.setLong(YarnConfiguration.CLIENT_NM_CONNECT_RETRY_INTERVAL_MS, 500);
    String host = System.getenv("NM_HOST");
    if (host == null) {
      host = InetAddress.getLocalHost().getHostName();
    }
    HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getByName(host), 0), 0);
    http.createContext("/", exchange -> {
      byte[] body = status;
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    http.start();
    nm.init(conf);
    nm.start();
    rm.init(conf);
    rm.start();
    int port = http.getAddress().getPort();
    heard = now();
    tasks.forEach(this::ask); // before the first heartbeat, which follows the registration at once
    rm.registerApplicationMaster(host, port, "http://" + host + ":" + port + "/");
  }

  private void unregister(FinalApplicationStatus result) throws Exception {
    rm.unregisterApplicationMaster(result, new String(status, StandardCharsets.US_ASCII), null);
  }

  private void ask(Task t) {
    // Named nodes and a label expression are refused together; that of the application holds.
    t.request = new ContainerRequest(Resource.newInstance(gang.memoryMB(), gang.vcores()), new String[] {t.node}, null, PRIORITY, false);
    rm.addContainerRequest(t.request);
  }

  /** Takes the gang further when there is nothing to wait for, or when waiting has taken too long. */
  private void step() {
    if (haste > 0 && (phase != Phase.ASKING || now() >= haste)) {
      haste = 0;
      rm.setHeartbeatInterval(HEARTBEAT_MILLIS);
    }
    boolean late = now() >= deadline;
    switch (phase) {
      case ASKING -> {
        if (tasks.stream().allMatch(t -> t.container != null)) {
          phase = Phase.STARTING;
          state = "starting";
          tasks.forEach(this::launch);
          nextPoll = now() + 50;
        } else if (late) {
          missing("not allocated", t -> t.container == null);
          stop("short");
        }
      }
      case STARTING -> {
        if (tasks.stream().allMatch(t -> t.started)) {
          phase = Phase.RUNNING;
          state = "running";
          startedMillis = System.currentTimeMillis();
        } else if (late) {
          missing("not running", t -> !t.started);
          stop("start");
        }
      }
      default -> { }
    }
    poll();
  }

  private boolean over() {
    return phase == Phase.STOPPING
        ? now() >= deadline || tasks.stream().allMatch(t -> t.ended || !t.launched)
        : tasks.stream().allMatch(t -> t.ended);
  }

  /** Asks NodeManagers how tasks are, where nobody else tells of it in time. */
  private void poll() {
    boolean needed = switch (phase) {
      case ASKING -> false;
      case STARTING, STOPPING -> true;
      case RUNNING -> now() - heard > SILENCE_MILLIS;
    };
    if (!needed || now() < nextPoll) {
      return;
    }
    nextPoll = now() + (phase == Phase.STARTING ? 100 : 200) + tasks.size();
    for (Task t : tasks) {
      if (t.launched && !t.ended && !t.asked && (phase != Phase.STARTING || !t.started)) {
        t.asked = true;
        nm.getContainerStatusAsync(t.container.getId(), t.container.getNodeId());
      }
    }
  }

  private void allocated(List<Container> containers) {
    for (Container c : containers) {
      long generation = c.getId().getContainerId() >>> 40;
      if (phase == Phase.ASKING && generation > epoch) { // a ResourceManager that was started again does not know of containers in which nothing runs
        epoch = generation;
        tasks.stream().filter(t -> t.container != null).forEach(t -> {
          byContainer.remove(t.container.getId());
          t.container = null;
          ask(t);
        });
      }
      Task taker = phase != Phase.ASKING ? null
          : tasks.stream().filter(t -> t.container == null && t.node.equals(c.getNodeId().toString())).findFirst().orElse(null);
      if (taker == null) { // more than was asked for
        rm.releaseAssignedContainer(c.getId());
        continue;
      }
      rm.removeContainerRequest(taker.request); // or it is sent again when the ResourceManager has been started again
      taker.request = null;
      taker.container = c;
      byContainer.put(c.getId(), taker);
    }
  }

  private void launch(Task t) {
    Map<String, String> env = new LinkedHashMap<>();
    env.put("HEDGE_JOB", gang.job());
    env.put("HEDGE_ATTEMPT", Integer.toString(gang.attempt()));
    env.put("HEDGE_RANK", Integer.toString(t.rank));
    env.put("HEDGE_TASKS", Integer.toString(tasks.size()));
    env.put("HEDGE_NODE", t.node);
    // Encoded, nothing on the way to the shell can take a part of the script for something of its own.
    env.put("HEDGE_SCRIPT", Base64.getEncoder().encodeToString(("unset HEDGE_SCRIPT\n" + gang.script()).getBytes(StandardCharsets.UTF_8)));
    // The NodeManager puts it between double quotes.
    String command = "exec /bin/sh -c 'eval \\\"\\$(printf %s \\\"\\$HEDGE_SCRIPT\\\" | base64 -d)\\\"' 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr";
    t.launched = true;
    nm.startContainerAsync(t.container, ContainerLaunchContext.newInstance(null, env, List.of(command), null, null, null));
  }

  /** What a NodeManager says of a task. */
  private void seen(Task t, ContainerStatus s) {
    t.asked = false;
    if (s.getState() == ContainerState.COMPLETE) {
      completed(s);
    } else if (s.getState() == ContainerState.RUNNING && s.getContainerSubState() == ContainerSubState.RUNNING) { // and not waiting to be launched
      t.started = true;
    }
  }

  private void completed(ContainerStatus s) {
    Task t = byContainer.get(s.getContainerId());
    if (t == null || t.ended) {
      return;
    }
    t.ended = true;
    t.started |= s.getExitStatus() == 0;
    if (tasks.stream().allMatch(other -> other.ended)) {
      endedMillis = System.currentTimeMillis();
    }
    if (s.getExitStatus() != 0 && phase != Phase.STOPPING) {
      failed.add(new Status.Failure(t.rank, t.node, s.getExitStatus(), s.getDiagnostics() == null ? "" : s.getDiagnostics()));
      stop(lost(s.getExitStatus(), s.getDiagnostics()) ? "lost" : "task");
    }
  }

  /** Whether an end is not the task's own doing. A task may exit with any code itself, but then its NodeManager tells more of it. */
  static boolean lost(int exit, String diagnostics) {
    return LOST.contains(exit) || exit == MISSED && (diagnostics == null || !diagnostics.contains("Exception from container-launch"));
  }

  /** Whether that is why a NodeManager does not tell how a task is: it has none of it, or none any more. */
  static boolean unknown(Throwable answer) {
    String text = String.valueOf(answer.getMessage());
    return text.contains("is not handled by this NodeManager") || text.contains("was recently stopped on node manager");
  }

  /** A NodeManager has answered that it does not know how a task is. One that it was to start and did not is over: nothing else will tell. */
  private void unseen(Task t, Throwable answer) {
    t.asked = false;
    t.ended |= t.refused && unknown(answer);
  }

  private void missing(String why, Predicate<Task> which) {
    tasks.stream().filter(which).limit(Status.MAX_FAILED).forEach(t -> failed.add(new Status.Failure(t.rank, t.node, -1, why)));
  }

  /** Gives everything back: asks, containers and what runs in them. */
  private void stop(String why) {
    if (phase == Phase.STOPPING) {
      return;
    }
    phase = Phase.STOPPING;
    cause = why;
    deadline = now() + STOP_MILLIS;
    for (Task t : tasks) {
      if (t.container == null) {
        rm.removeContainerRequest(t.request);
      } else if (!t.launched) {
        rm.releaseAssignedContainer(t.container.getId());
      } else if (!t.ended) {
        nm.stopContainerAsync(t.container.getId(), t.container.getNodeId());
      }
    }
  }

  private void publish() {
    long ended = tasks.stream().filter(t -> t.ended).count();
    long started = tasks.stream().filter(t -> t.started).count();
    long allocated = tasks.stream().filter(t -> t.container != null).count();
    float n = Math.max(1, tasks.size());
    progress = startedMillis > 0 ? 0.5f + 0.49f * ended / n : allocated < n ? 0.1f + 0.3f * allocated / n : 0.4f + 0.09f * started / n;
    status = new Status(tasks.size(), state, (int) allocated, startedMillis, endedMillis, cause, failed).json().getBytes(StandardCharsets.US_ASCII);
  }

  private static long now() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  private final class FromResourceManager extends AMRMClientAsync.AbstractCallbackHandler {
    @Override public void onContainersAllocated(List<Container> containers) { events.add(() -> allocated(containers)); }
    @Override public void onContainersCompleted(List<ContainerStatus> all) { events.add(() -> all.forEach(GangMaster.this::completed)); }
    @Override public void onShutdownRequest() { events.add(() -> stop("shutdown")); }
    @Override public void onContainersUpdated(List<UpdatedContainer> containers) { }
    @Override public void onNodesUpdated(List<NodeReport> nodes) { }

    @Override public float getProgress() { // it is called with every answer
      heard = now();
      return progress;
    }

    @Override public void onError(Throwable t) {
      t.printStackTrace();
      onShutdownRequest();
    }
  }

  private final class FromNodeManagers extends NMClientAsync.AbstractCallbackHandler {
    private void of(ContainerId id, Consumer<Task> what) {
      events.add(() -> {
        Task t = byContainer.get(id);
        if (t != null) {
          what.accept(t);
        }
      });
    }

    @Override public void onContainerStatusReceived(ContainerId id, ContainerStatus s) { of(id, t -> seen(t, s)); }
    @Override public void onGetContainerStatusError(ContainerId id, Throwable e) { of(id, t -> unseen(t, e)); }
    @Override public void onContainerStarted(ContainerId id, Map<String, ByteBuffer> services) { }
    @Override public void onContainerStopped(ContainerId id) { }
    @Override public void onContainerResourceIncreased(ContainerId id, Resource r) { }
    @Override public void onContainerResourceUpdated(ContainerId id, Resource r) { }
    @Override public void onIncreaseContainerResourceError(ContainerId id, Throwable e) { }
    @Override public void onUpdateContainerResourceError(ContainerId id, Throwable e) { }
    @Override public void onStopContainerError(ContainerId id, Throwable e) { }

    @Override public void onStartContainerError(ContainerId id, Throwable e) {
      e.printStackTrace();
      of(id, t -> {
        t.refused = true;
        if (phase != Phase.STOPPING && !t.ended) {
          failed.add(new Status.Failure(t.rank, t.node, -1, String.valueOf(e.getMessage())));
          stop("start");
        }
      });
    }
  }
}
