package kubernetes_test

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/hedgesched/hedge/adapters/kubernetes"
)

// A driver reports a Job's pods as one gang, with the hints in its annotations. A program makes its client from a
// kubeconfig with Client, passes the driver to adapters.New, and runs a loop on the cluster under adapters.Lead.
func Example() {
	ctx, yes, tasks := context.Background(), true, int32(2)
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{SchedulerName: "hedge", Containers: []corev1.Container{{
		Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("4")}}}}}}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "train", UID: "1", ResourceVersion: "1",
			Annotations: map[string]string{kubernetes.DeadlineAnnotation: "90m"}},
		Spec: batchv1.JobSpec{Parallelism: &tasks, Completions: &tasks, Template: template},
	}
	client := fake.NewSimpleClientset(job)
	for _, name := range []string{"train-0", "train-1"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: "1",
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "batch/v1", Kind: "Job", Name: "train", UID: "1", Controller: &yes}}}, Spec: template.Spec}
		_, err := client.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
	}

	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	driver, err := kubernetes.Open(ctx, client, kubernetes.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer driver.Close()
	view, err := driver.Observe(ctx, true)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, j := range view.Jobs {
		fmt.Println(j.Spec.ID, j.Spec.Tasks, j.Spec.Demand["cpu"], j.Spec.Deadline)
	}
	// Output: default/job/train 2 4 1h30m0s
}
