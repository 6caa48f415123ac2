// Package testservers runs real cluster managers on the loopback interface of a test machine, without containers: a
// Kubernetes control plane (etcd, kube-apiserver, kube-controller-manager, kube-scheduler) with kwok's simulated nodes,
// Nomad servers and clients that run real processes, and YARN with NodeManagers that do so too. The programs are built
// from the Go module proxy at fixed versions, once, into the user's cache folder; YARN's jars come from Maven Central,
// which needs java and mvn.
//
// It is for tests and demonstrations of the adapters. Its servers have no security to speak of (fixed tokens, no
// fsync): nothing else should run on it. All processes end with [Kubernetes.Stop] and its like. The servers end with
// the process that started them, too, however that ends; what runs on Nomad and YARN then runs on.
package testservers
