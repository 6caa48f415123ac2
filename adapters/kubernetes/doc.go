// Package kubernetes connects hedge to a Kubernetes cluster. It implements the interfaces of package adapters and
// schedules the pods with schedulerName: hedge. It watches pods, nodes and Jobs, binds the pods of a gang together or
// not at all, and evicts pods that must make room. It has no state of its own: the cluster holds everything that it
// knows. It creates no pods, never touches pods of other schedulers, and never logs.
//
// # What a job is
//
//   - A batch Job whose pods all run at the same time is a gang, Indexed or not. That is a Job whose completions are
//     unset or at most its parallelism. If a Job has more completions than parallelism, or the annotation
//     hedgesched.github.io/gang: "false", each pod is a job of its own. It has the Job's hints, and its submission is
//     its own creation.
//   - Pods with the label scheduling.x-k8s.io/pod-group or pod-group.scheduling.sigs.k8s.io are a gang. Every one of
//     them must give the gang's size, in the label or annotation scheduling.x-k8s.io/min-available or
//     pod-group.scheduling.sigs.k8s.io/min-available. A gang with more pods than that is refused. A hint may be on one
//     or more of these pods, and on the Jobs that control them. If two differ, the gang is refused.
//   - Any other pod is a job of its own.
//
// The pods of a gang are equal tasks. If they ask for different resources, or for different nodes, the gang is refused
// at once, and an event says what each pod asks for. A gang has the highest priority of its pods. A gang that already
// runs stays counted, with the maximum of each resource.
//
// A gang waits until all its pods exist. A binding cannot be undone. So a gang that is preempted or rolled back loses
// its pods, and the Job, or whatever else controls them, makes new ones. Pods that nothing controls do not come back. A
// Job counts evicted pods as failures, unless its podFailurePolicy ignores pods with the condition DisruptionTarget.
//
// # Hints
//
// Hints are annotations of a Job or of its pods. If a hint makes no sense or is unknown, the job is not scheduled, and
// an event says why.
//
//	hedgesched.github.io/deadline    a duration from submission of at least 1s, like 90m, or a time
//	                                 after submission, like 2026-01-02T15:04:05Z
//	hedgesched.github.io/utility     JSON of package utility, above 0 at some time, like
//	                                 {"kind":"piecewise","points":[{"t":900,"v":100},{"t":900,"v":0}]};
//	                                 the default is 5, fading to 1 in 24 days, and 100 more until the deadline
//	hedgesched.github.io/speeds      how fast it runs on which nodes, from 1e-6 to 1, like gpu=a100 1; gpu=v100 0.66;
//	                                 other 0.39; a node in several of the sets has the highest of their speeds
//	hedgesched.github.io/checkpoint  "true" if a stopped job continues where it was
//	hedgesched.github.io/after       Jobs of the same namespace that must have finished before, like fetch, split;
//	                                 of a group of pods, such groups
//	hedgesched.github.io/user        the user, for predictions
//	hedgesched.github.io/resize      "true" if the only pod of the job may be bound with smaller requests
//	hedgesched.github.io/resize-least
//	                                 the least memory that it then requests, like 64Mi
//	hedgesched.github.io/gang        "false" makes every pod of a Job a job of its own
//
// Other annotations with that prefix belong to the driver. It writes them on pods when it binds them, and later. A pod
// that has them before it is bound is not scheduled: it was probably created from the printed form of another pod. The
// exception is hedgesched.github.io/fence, which the driver writes on unbound pods. Only changes of its value matter,
// so a pod with a copied value is scheduled like any other.
//
// A gang has at most 1000 pods.
//
// A pod of a Job waits until its Job is known, too. A deadline that is a time is refused if it had passed when the Job
// was created. For a pod that nothing recreates, the pod's creation counts. For pods that something other than a Job
// recreates, such a deadline counts as missed.
//
// # What is taken into account
//
// Node selectors, required node affinity and tolerations limit a job to an equivalence set. What labels alone cannot
// express becomes an additional label, which the driver shows on its nodes. Resource requests are counted as
// Kubernetes' own scheduler does: containers, init containers, sidecars and overhead. Each host port is a resource of
// its own. Priorities are those of the pods' priority classes. The API server enforces quotas: if it refuses a pod, the
// gang waits for that pod.
//
// Pods with demands that the driver does not understand are refused with a reason: affinity to other pods, hard
// topology spread, resource claims of devices, ephemeral volumes with claims of their own, claims that are not bound,
// and claims whose volume is tied to nodes. A claim that is bound only once a pod has a node (WaitForFirstConsumer)
// counts as not bound. The number of volumes that a node can attach is not checked.
//
// # What is measured and resized
//
// [Driver.Measure] reads what pods use from the metrics API. If a job of one pod allows it ([ResizeAnnotation]), a
// start first changes the pod's requests, and its limit of memory if it has one, by the subresource resize, and then
// binds the pod. They are what was forecast, never more than the pod asks for. A pod that is resized and then not bound
// keeps the smaller requests, as its own. Pods that their controllers make anew ask for what the controllers say. Gangs
// of pods, pods of several containers, and pods whose requests are their limits are not resized.
//
// # How it reads
//
// The driver lists and watches by itself instead of using client-go's informers, for three reasons.
//
// An informer keeps whole objects, or copies that a transformation has made smaller, and passes each of them to
// handlers. The model keeps little of each pod and shares what pods of a gang have in common. This matters because most
// pods of a cluster belong to others.
//
// Informers hide the versions of lists and watches. Here versions show what a list may have missed, which pods of a
// removed node are lost, and up to where a view is complete.
//
// An informer has one store per kind. Such a store knows nothing of the order between kinds, or of the driver's own
// actions. Here one lock orders both.
package kubernetes
