package trace_test

import (
	"fmt"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"os"
	"testing"
)

func TestReal(t *testing.T) {
	for _, f := range []string{"usage/google2011_job_usage_5min.csv.gz", "usage/google2019_borg_sample.csv.gz", "usage/planetlab_vm_cpu_5min.csv.gz", "usage/surf_cpu_usage_days1-4.csv.gz", "dag/alibaba2018_dags_with_usage.csv.gz"} {
		if _, err := os.Stat("/work/shared/traces/" + f); err != nil {
			t.Skip()
		}
		l, err := trace.ReadUsage("/work/shared/traces/"+f, nil)
		fmt.Println(f, err)
		if err != nil {
			continue
		}
		segs, maxm, maxc := 0, 0.0, 0.0
		for _, r := range l.Records {
			segs += len(r.Use)
			maxm = max(maxm, r.Max.Memory)
			maxc = max(maxc, r.Max.CPU)
		}
		fmt.Println(l.Format, len(l.Records), segs, maxc, maxm, l.Skipped, l.Bad, l.Notes)
		fmt.Println(l.Records[1].Job, l.Records[1].Requested, l.Records[1].Use[0], l.Records[1].Max)
	}
}
