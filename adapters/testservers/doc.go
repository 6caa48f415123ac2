// Package testservers runs real cluster managers on the loopback interface of a test machine, without containers: a
// Kubernetes control plane (etcd, kube-apiserver, kube-controller-manager, kube-scheduler) with kwok's simulated nodes,
// Nomad servers and clients with real processes, and YARN with NodeManagers with real processes. The programs are built
// once, at fixed versions, from the Go module proxy into the user's cache folder. YARN's jars come from Maven Central,
// which needs java and mvn.
//
// It is for tests and demonstrations of the adapters. The servers are not secure (fixed tokens, no fsync): nothing else
// should run on them. [Kubernetes.Stop] and its counterparts end all processes. The servers also end with the process
// that started them, however that ends. What runs on Nomad and YARN then goes on.
package testservers
