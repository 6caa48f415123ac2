// Package kubernetes is the way of package adapters to a Kubernetes cluster: a scheduler for pods with schedulerName:
// hedge. It reads pods, nodes and Jobs by watches, binds the pods of a gang together or not at all, and evicts those
// that must make room. It keeps nothing of its own: all that it knows stands in the cluster. It makes no pods; it never
// touches pods of other schedulers, and never logs.
//
// # What a job is
//
//   - A batch Job whose pods run all at once (completions not above parallelism, or not set) is a gang of them all, Indexed or not. Of a Job with more completions
//     than parallelism, and of one with the annotation hedgesched.github.io/gang: "false", every pod is a job of its own, with the Job's hints and its own creation
//     as its submission.
//   - Pods with the label scheduling.x-k8s.io/pod-group or pod-group.scheduling.sigs.k8s.io are a gang of as many as the label or annotation
//     scheduling.x-k8s.io/min-available or pod-group.scheduling.sigs.k8s.io/min-available of every one of them says. More pods than that are refused.
//     A hint of a gang may stand on one of these pods or more, and on the Jobs that they are of; where two differ, the gang is refused.
//   - Any other pod is a job of its own.
//
// The pods of a gang are equal tasks: a gang whose pods ask for different resources, or for nodes that do not suit all
// of them, is refused at once, and an event says what each asks for. Its priority is the highest of its pods'. One that
// runs already stays counted, with the most of each resource.
//
// A gang waits until all its pods are there. A binding cannot be undone, so a gang that is preempted or rolled back
// loses its pods; the Job, or whatever else controls them, makes new ones. Pods of a gang that nothing controls do not
// come back. A Job counts evicted pods as failures unless its podFailurePolicy ignores those with the condition
// DisruptionTarget.
//
// # Hints
//
// Annotations of a Job, or else of its pods; one that makes no sense, or is not known, keeps the job from being
// scheduled, and an event tells why:
//
//	hedgesched.github.io/deadline    a duration from submission of at least 1s, as 90m, or a time after it, as 2026-01-02T15:04:05Z
//	hedgesched.github.io/utility     JSON of package utility, as {"kind":"piecewise","points":[{"t":900,"v":100},{"t":900,"v":0}]}; above
//	                                 0 at some time; by default 5, fading to 1 in 24 days, and 100 more until the deadline
//	hedgesched.github.io/prefer      labels of nodes it runs at full speed on, as gpu=a100|h100, disk=*
//	hedgesched.github.io/slowdown    how many times longer it runs on others, 1 to 1e6; only beside prefer
//	hedgesched.github.io/checkpoint  "true" if it goes on where it was when it was stopped
//	hedgesched.github.io/user        who is behind it, for predictions
//	hedgesched.github.io/gang        "false" makes every pod of a Job a job of its own
//
// Others of that prefix are the driver's own. It writes them on pods as it binds them and later; a pod that has them
// before it is bound, as one that was made from what another was printed as, is not scheduled, either. The one
// exception is hedgesched.github.io/fence, which the driver writes on pods that are not bound: what it says does not
// matter, only that it changes, so that a pod with a copied one is scheduled as any other. A gang has at most 1000
// pods.
//
// A pod of a Job waits until its Job is known, too. A deadline that is a time is refused if it was over when the Job
// was made, or the pod where nothing makes it anew; of pods that something else than a Job makes anew, it counts as
// missed.
//
// # What is taken into account
//
// Node selectors, required node affinity and tolerations limit a job to an equivalence set; what labels alone cannot
// express becomes a label of the driver's own on the nodes that it shows. Requests are those that the scheduler of
// Kubernetes counts: containers, init containers, sidecars, overhead, and host ports as resources of one. Priorities
// are those of the pods' classes. Quotas are the API server's: a pod that it refuses is one that the gang waits for.
// Pods that demand what is not understood are refused with a reason: affinity to other pods, hard topology spread,
// resource claims of devices, ephemeral volumes with claims of their own, and claims of volumes that are not bound or
// whose volume is tied to nodes. A claim that is bound only once a pod has a node (WaitForFirstConsumer) is one that is
// not bound. How many volumes a node takes is not looked at.
//
// # How it reads
//
// The lists and watches are the driver's own and not those of client-go's informers, for three reasons. An informer
// keeps whole objects, or copies that a transformation has made smaller, and hands each to handlers beside its store;
// the model keeps of a pod a few words and shares what pods of a gang have in common, as a cluster's memory is mostly
// that of pods of others. Informers hide the versions of lists and watches; here a version tells what a list may have
// missed, which pods of a node that is gone are lost, and up to where a view is complete. And a store of each kind says
// nothing of the order between kinds and of what the driver has done itself; here one lock orders both.
package kubernetes
