package io.github.hedgesched.yarn;

import java.util.List;

/** What the driver can read of the gang: while it runs by HTTP, afterwards in the application's diagnostics. */
record Status(int tasks, String state, int allocated, long startedMillis, long endedMillis, String cause, List<Failure> failed) {
  static final int MAX_FAILED = 20;
  private static final int MAX_WHY = 200;

  /** A task that ended badly, or was not had: exit -1. */
  record Failure(int rank, String node, int exit, String why) {}

  /** The JSON form, in ASCII. The order of the fields is fixed, so that both sides can be tested by the same bytes. */
  String json() {
    StringBuilder out = new StringBuilder();
    out.append("{\"protocol\":").append(Gang.PROTOCOL).append(",\"tasks\":").append(tasks).append(",\"state\":").append(quote(state))
        .append(",\"allocated\":").append(allocated).append(",\"started-ms\":").append(startedMillis).append(",\"ended-ms\":").append(endedMillis)
        .append(",\"cause\":").append(quote(cause)).append(",\"failed\":[");
    String comma = "";
    for (Failure f : failed.subList(0, Math.min(failed.size(), MAX_FAILED))) {
      out.append(comma).append("{\"rank\":").append(f.rank).append(",\"node\":").append(quote(f.node)).append(",\"exit\":").append(f.exit)
          .append(",\"why\":").append(quote(f.why.substring(0, Math.min(f.why.length(), MAX_WHY)))).append('}');
      comma = ",";
    }
    return out.append("]}").toString();
  }

  private static String quote(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      switch (c) {
        case '"', '\\' -> out.append('\\').append(c);
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        default -> {
          if (c >= ' ' && c <= '~') {
            out.append(c);
          } else {
            out.append(String.format("\\u%04x", (int) c));
          }
        }
      }
    }
    return out.append('"').toString();
  }
}
