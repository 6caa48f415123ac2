package io.github.hedgesched.yarn;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;

/** A gang of tasks as the driver asks for it. */
record Gang(String job, int attempt, List<OnNode> nodes, int memoryMB, int vcores, String label, long timeoutMillis, String script) {
  static final int PROTOCOL = 1;
  private static final int MAX_TASKS = 1000;
  private static final int MAX_ENCODED = 96 << 10;
  private static final int MAX_JSON = 1 << 20;
  private static final Pattern NODE = Pattern.compile("[^\\s:]+:[0-9]{1,5}");
  private static final Pattern JOB = Pattern.compile("[A-Za-z0-9._-]+");
  private static final ObjectReader READER = JsonMapper.builder()
      .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES, DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES,
          DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
      .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
      .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
      .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
      .build().readerFor(Gang.class);

  /** Some tasks of the gang, on one node: its id, host:port. */
  record OnNode(String node, int tasks) {
    @JsonCreator
    OnNode(@JsonProperty("node") String node, @JsonProperty("tasks") int tasks) {
      check(NODE.matcher(node).matches(), "node %s, expected host:port", node);
      check(tasks >= 1 && tasks <= MAX_TASKS, "%d tasks on a node, expected 1 to %d", tasks, MAX_TASKS);
      this.node = node;
      this.tasks = tasks;
    }
  }

  @JsonCreator
  static Gang of(@JsonProperty("protocol") int protocol, @JsonProperty("job") String job, @JsonProperty("attempt") int attempt,
      @JsonProperty("nodes") List<OnNode> nodes, @JsonProperty("memory-mb") int memoryMB, @JsonProperty("vcores") int vcores,
      @JsonProperty("label") String label, @JsonProperty("timeout-ms") long timeoutMillis, @JsonProperty("script") String script) {
    check(protocol == PROTOCOL, "protocol %d, expected %d", protocol, PROTOCOL);
    check(JOB.matcher(job).matches(), "job %s, expected letters, digits and ._-", job);
    Set<String> names = new HashSet<>();
    for (OnNode n : nodes) {
      check(names.add(n.node()), "node %s is there twice", n.node());
    }
    Gang g = new Gang(job, attempt, List.copyOf(nodes), memoryMB, vcores, label, timeoutMillis, script);
    check(g.tasks() >= 1 && g.tasks() <= MAX_TASKS, "%d tasks, expected 1 to %d", g.tasks(), MAX_TASKS);
    check(memoryMB >= 1 && vcores >= 1, "tasks of %d MB and %d vcores, expected 1 and more", memoryMB, vcores);
    check(timeoutMillis >= 1, "timeout of %d ms, expected 1 and more", timeoutMillis);
    return g;
  }

  /** Reads what {@code HEDGE_GANG} holds: base64 of gzip of JSON. */
  static Gang decode(String encoded) throws IOException {
    check(encoded != null, "HEDGE_GANG is not set");
    check(encoded.length() <= MAX_ENCODED, "HEDGE_GANG of %d bytes, expected at most %d", encoded.length(), MAX_ENCODED);
    try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(Base64.getDecoder().decode(encoded)))) {
      byte[] json = in.readNBytes(MAX_JSON + 1);
      check(json.length <= MAX_JSON, "more than %d bytes of JSON", MAX_JSON);
      return read(json);
    }
  }

  /** Reads the JSON alone. */
  static Gang read(byte[] json) throws IOException {
    return READER.readValue(json);
  }

  int tasks() {
    return (int) Math.min(MAX_TASKS + 1, nodes.stream().mapToLong(OnNode::tasks).sum());
  }

  /** The gang's tasks by rank. */
  List<Task> expand() {
    List<Task> all = new ArrayList<>();
    for (OnNode n : nodes) {
      for (int i = 0; i < n.tasks(); i++) {
        all.add(new Task(all.size(), n.node()));
      }
    }
    return all;
  }

  private static void check(boolean holds, String message, Object... args) {
    if (!holds) {
      throw new IllegalArgumentException(String.format(message, args));
    }
  }
}
