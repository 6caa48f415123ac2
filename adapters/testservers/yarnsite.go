package testservers

import (
	"encoding/xml"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
)

// configure writes a part's configuration.
func (y *YARN) configure(name string) error {
	files := map[string][]byte{"log4j.properties": []byte(`log4j.rootLogger=INFO,A
log4j.appender.A=org.apache.log4j.ConsoleAppender
log4j.appender.A.layout=org.apache.log4j.PatternLayout
log4j.appender.A.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
`)}
	site := y.common()
	if name != ResourceManager {
		maps.Copy(site, y.nodeSite(name))
	}
	maps.Copy(site, y.cfg.Site)
	scheduler := y.scheduler()
	maps.Copy(scheduler, y.cfg.Scheduler)
	for file, properties := range map[string]map[string]string{"core-site.xml": y.core(), "yarn-site.xml": site,
		"capacity-scheduler.xml": scheduler} {
		text, err := hadoopXML(properties)
		if err != nil {
			return err
		}
		files[file] = text
	}
	return write(y.path(name, "conf"), files)
}

func (y *YARN) core() map[string]string {
	return map[string]string{
		"fs.defaultFS":   "file:///",
		"hadoop.tmp.dir": filepath.Join(y.cfg.Dir, "tmp"),
		// users are who they say they are; without these, all calls are by another user than the one that runs this
		"hadoop.http.filter.initializers":                     "org.apache.hadoop.security.AuthenticationFilterInitializer",
		"hadoop.http.authentication.type":                     "simple",
		"hadoop.http.authentication.simple.anonymous.allowed": "true",
	}
}

// common are the properties that all parts have in common.
func (y *YARN) common() map[string]string {
	at := func(i int) string { return fmt.Sprintf("127.0.0.1:%d", y.ports[ResourceManager][i]) }
	state := func(name string) string { return "file://" + y.path(ResourceManager, name) }
	const m = "org.apache.hadoop.yarn.server.resourcemanager."
	return map[string]string{
		"yarn.resourcemanager.hostname":                                           "127.0.0.1",
		"yarn.resourcemanager.webapp.address":                                     at(0),
		"yarn.resourcemanager.resource-tracker.address":                           at(1),
		"yarn.resourcemanager.scheduler.address":                                  at(2),
		"yarn.resourcemanager.address":                                            at(3),
		"yarn.resourcemanager.admin.address":                                      at(4),
		"yarn.resourcemanager.scheduler.class":                                    m + "scheduler.capacity.CapacityScheduler",
		"yarn.resourcemanager.recovery.enabled":                                   "true",
		"yarn.resourcemanager.store.class":                                        m + "recovery.FileSystemRMStateStore",
		"yarn.resourcemanager.fs.state-store.uri":                                 state("state"),
		"yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms":        "1000",
		"yarn.resourcemanager.nodemanagers.heartbeat-interval-ms":                 "200",
		"yarn.resourcemanager.application-timeouts.monitor.interval-ms":           "500",
		"yarn.resourcemanager.connect.retry-interval.ms":                          "500",
		"yarn.resourcemanager.connect.max-wait.ms":                                "300000",
		"yarn.nm.liveness-monitor.expiry-interval-ms":                             "10000",
		"yarn.am.liveness-monitor.expiry-interval-ms":                             "60000",
		"yarn.cluster.max-application-priority":                                   "10",
		"yarn.node-labels.enabled":                                                "true",
		"yarn.node-labels.fs-store.root-dir":                                      state("labels"),
		"yarn.node-attribute.fs-store.root-dir":                                   state("attributes"),
		"yarn.scheduler.include-port-in-node-name":                                "true", // all nodes are on one host
		"yarn.scheduler.minimum-allocation-mb":                                    "1",
		"yarn.scheduler.minimum-allocation-vcores":                                "1",
		"yarn.scheduler.maximum-allocation-mb":                                    "1048576",
		"yarn.scheduler.maximum-allocation-vcores":                                "100000",
		"yarn.scheduler.configuration.store.class":                                "fs",
		"yarn.scheduler.configuration.fs.path":                                    state("queues"),
		"yarn.scheduler.capacity.per-node-heartbeat.multiple-assignments-enabled": "true",
		"yarn.nodemanager.recovery.enabled":                                       "true",
		"yarn.nodemanager.sleep-delay-before-sigkill.ms":                          "250",
		"yarn.nodemanager.pmem-check-enabled":                                     "false",
		"yarn.nodemanager.vmem-check-enabled":                                     "false",
		// it reads of all processes, every three seconds for each container
		"yarn.nodemanager.container-monitor.enabled": "false",
		// five processes more before each container
		"yarn.nodemanager.log-container-debug-info.enabled":                             "false",
		"yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "100",
	}
}

// nodeSite are the properties that a NodeManager has for itself.
func (y *YARN) nodeSite(name string) map[string]string {
	at := func(i int) string { return fmt.Sprintf("127.0.0.1:%d", y.ports[name][i]) }
	n := y.cfg.Nodes[slices.IndexFunc(y.cfg.Nodes, func(n YARNNode) bool { return n.Name == name })]
	return map[string]string{
		"yarn.nodemanager.address":             at(0),
		"yarn.nodemanager.localizer.address":   at(1),
		"yarn.nodemanager.webapp.address":      at(2),
		"yarn.nodemanager.local-dirs":          y.path(name, "local"),
		"yarn.nodemanager.log-dirs":            y.path(name, "logs"),
		"yarn.nodemanager.recovery.dir":        y.path(name, "recovery"),
		"yarn.nodemanager.resource.memory-mb":  fmt.Sprint(n.MemoryMB),
		"yarn.nodemanager.resource.cpu-vcores": fmt.Sprint(n.VCores),
	}
}

// scheduler are the properties of one queue, which all may use wholly, also for ApplicationMasters.
func (y *YARN) scheduler() map[string]string {
	const prefix = "yarn.scheduler.capacity."
	return map[string]string{
		prefix + "resource-calculator":            "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
		prefix + "maximum-applications":           "10000",
		prefix + "maximum-am-resource-percent":    "1.0",
		prefix + "node-locality-delay":            "-1",
		prefix + "root.queues":                    "default",
		prefix + "root.default.capacity":          "100",
		prefix + "root.default.user-limit-factor": "100",
	}
}

// hadoopXML is a configuration file of Hadoop's.
func hadoopXML(properties map[string]string) ([]byte, error) {
	type property struct {
		Name  string `xml:"name"`
		Value string `xml:"value"`
	}
	var file struct {
		XMLName    xml.Name   `xml:"configuration"`
		Properties []property `xml:"property"`
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		file.Properties = append(file.Properties, property{name, properties[name]})
	}
	return xml.MarshalIndent(&file, "", " ")
}
