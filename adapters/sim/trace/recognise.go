package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// recognise decompresses a log and finds its format unless it is given.
func recognise(r io.Reader, name, format string) (*bufio.Reader, string, error) {
	if format != "" && !slices.Contains(Formats(), format) {
		return nil, "", fmt.Errorf("%w: %q, known: %s", ErrUnknownFormat, format, strings.Join(Formats(), ", "))
	}
	b, err := unzip(r, name)
	if err != nil || format != "" {
		return b, format, err
	}
	start, err := b.Peek(bufferSize)
	if len(bytes.TrimSpace(start)) == 0 {
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errTrailing) {
			return nil, "", (&lines{file: name, line: 1}).failed(err)
		}
		return nil, "", fmt.Errorf("%s: %w", name, ErrEmpty)
	}
	if format = byName(name); format == "" {
		format = byContent(start)
	}
	if format == "" {
		return nil, "", fmt.Errorf("%w: %s looks like none of %s", ErrUnknownFormat, name, strings.Join(Formats(), ", "))
	}
	return b, format, nil
}

// byName recognises a format from a file's name, where that is enough.
func byName(name string) string {
	switch filepath.Ext(strings.TrimSuffix(name, ".gz")) {
	case ".swf":
		return SWF
	case ".tr":
		return Eagle
	}
	return ""
}

// byContent recognises a format from a log's first lines: comments, blank lines, and in a format of
// blank-separated fields a header or a bad record, may stand before the one that tells.
func byContent(start []byte) string {
	const most = 100
	for range most {
		line, rest, whole := bytes.Cut(start, []byte("\n"))
		if !whole && len(line) == 0 {
			break
		}
		start = rest
		switch line = trim(chomp(line)); {
		case len(line) == 0 || line[0] == '#':
		case line[0] == ';':
			return SWF
		case line[0] == '{':
			return byMembers(line)
		case bytes.IndexByte(line, ',') >= 0:
			if format := byNames(line); format != "" {
				return format
			}
			if format := byFields(line, whole); format != "" {
				return format
			}
			return ""
		default:
			if format := byFields(line, whole); format != "" {
				return format
			}
		}
	}
	return ""
}

// byNames recognises a table by the names of its columns.
// byMembers tells the formats of a JSON object a line apart.
func byMembers(line []byte) string {
	switch {
	case bytes.Contains(line, []byte(`"first_wave"`)):
		return SparkTPCH
	case bytes.Contains(line, []byte(`"workflow":{"specification"`)):
		return WfFormat
	}
	return HedgeJSONL
}

func byNames(line []byte) string {
	names, _ := split(nil, bytes.Clone(line), maxColumns) // split unquotes in place
	has := func(wanted ...string) bool {
		for _, w := range wanted {
			if !slices.ContainsFunc(names, func(b []byte) bool { return string(b) == w }) {
				return false
			}
		}
		return true
	}
	switch {
	case has("job_id", "submit_s", "start_s", "end_s", "end_event") && !has("task_index"):
		return GoogleJobs
	case has("job_id", "num_gpu", "expect_time_list"):
		return Chronus
	case has("job_id", "arrival_s", "runtime_s", "gpus"):
		return Helios
	case has("job_name", "norm_job_submit_time", "ddl"):
		return Hydra
	case has("arrival_time", "length", "cpus"):
		return Simple
	case has("interval", "run_time", "new_status"):
		return JobList
	case has("task_create_time", "number_of_instances"):
		return Alibaba2017
	case has("task_name", "job_name", "instances"):
		return Alibaba2018
	case has(colID, colSubmit, colRuntime):
		return HedgeCSV
	}
	return ""
}

// byFields tells the two blank-separated formats apart: a line of the Eagle
// format has three fields more than its second says.
func byFields(line []byte, whole bool) string {
	fields := words(nil, line, len(line)/2+1)
	if len(fields) < 4 {
		return ""
	}
	for _, f := range fields[:4] {
		if _, ok := decimal(f); !ok {
			return ""
		}
	}
	n, ok := count(fields[1])
	switch {
	case ok && (n == len(fields)-3 || !whole && n > len(fields)-3):
		return Eagle
	case len(fields) >= swfFields:
		return SWF
	}
	return ""
}
