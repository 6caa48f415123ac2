package kubernetes

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func (x *tester) claim(name, volume string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name,
		UID: types.UID("claim-" + name), ResourceVersion: x.next()},
		Spec:   corev1.PersistentVolumeClaimSpec{VolumeName: volume},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}}
	if volume != "" {
		c.Status.Phase = corev1.ClaimBound
	}
	x.change(claims, c.DeepCopy(), false)
	return c
}

func (x *tester) volume(name, claim string, tied bool) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("volume-" + name), ResourceVersion: x.next()},
		Spec:       corev1.PersistentVolumeSpec{ClaimRef: &corev1.ObjectReference{Namespace: "ns", Name: claim}}}
	if tied {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{}}
	}
	x.change(volumes, v.DeepCopy(), false)
	return v
}

func mounts(claim string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
	}
}

// TestClaims: a pod waits until its claims are bound to volumes that every node can reach. Changes are reported without
// a list.
func TestClaims(t *testing.T) {
	x := newTester(t)
	x.node("n")
	x.pod("a", mounts("data"))
	require.ErrorIs(t, x.only().Problem, errUnbound, "there is none")
	changed := func() error {
		t.Helper()
		v := x.view(false, time.Now())
		require.Len(t, v.Jobs, 1)
		return v.Jobs[0].Problem
	}
	x.claim("data", "")
	require.ErrorIs(t, changed(), errUnbound)
	x.claim("data", "v")
	require.ErrorContains(t, changed(), `volume "v" of the claim "data" is not known`)
	x.volume("v", "data", true)
	require.ErrorContains(t, changed(), "is tied to nodes")
	v := x.volume("v", "data", false)
	require.NoError(t, changed())
	x.claim("data", "v")
	assert.Empty(t, x.view(false, time.Now()).Jobs)
	c := x.claim("other", "v")
	require.NoError(t, x.only().Problem)
	x.listing(claims)
	x.listed(claims, map[types.UID]bool{c.UID: true}, number(c.ResourceVersion)) // the claim is no more
	require.ErrorIs(t, changed(), errUnbound)
	x.claim("data", "v")
	require.NoError(t, changed())
	v.ResourceVersion = x.next()
	x.change(volumes, v, true)
	require.ErrorContains(t, changed(), "is not known")
	x.pod("a", mounts("data"), on("n", corev1.PodRunning))
	require.NoError(t, x.only().Problem, "somebody else has bound it")
	x.change(pods, x.pod("a"), true)
	x.see(0)
	assert.Empty(t, x.claimants)
}
