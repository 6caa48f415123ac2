package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	strict "sigs.k8s.io/yaml"
)

// manifests reads objects from a file; fields that the API does not know are errors.
func manifests(t *testing.T, path string, objects map[string]any) {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		var kind metav1.TypeMeta
		require.NoError(t, strict.Unmarshal(text, &kind))
		if o, ok := objects[kind.Kind]; ok {
			require.NoError(t, strict.UnmarshalStrict(text, o), kind.Kind)
		}
	}
}

// TestStatefulSet: the program can read the configuration that the manifests give it, listens where it is asked, and
// may write where it keeps its history.
func TestStatefulSet(t *testing.T) {
	var set appsv1.StatefulSet
	var service corev1.Service
	var text corev1.ConfigMap
	manifests(t, "statefulset.yaml", map[string]any{"StatefulSet": &set, "Service": &service, "ConfigMap": &text})
	var account corev1.ServiceAccount
	manifests(t, "../../adapters/kubernetes/manifests/account.yaml", map[string]any{"ServiceAccount": &account})
	pod := set.Spec.Template.Spec
	assert.Equal(t, account.Name, pod.ServiceAccountName)
	assert.Equal(t, account.Namespace, set.Namespace)
	assert.Equal(t, service.Name, set.Spec.ServiceName)
	assert.Equal(t, set.Spec.Template.Labels, service.Spec.Selector)
	require.Len(t, pod.Containers, 1)
	c := pod.Containers[0]

	mounted := map[string]string{} // folder by volume
	for _, m := range c.VolumeMounts {
		mounted[m.Name] = m.MountPath
	}
	require.Len(t, pod.Volumes, 1)
	require.Equal(t, text.Name, pod.Volumes[0].ConfigMap.Name)
	require.Len(t, c.Args, 1)
	file := strings.TrimPrefix(c.Args[0], "-config=")
	assert.Equal(t, mounted[pod.Volumes[0].Name], filepath.Dir(file))

	path := filepath.Join(t.TempDir(), "config.yaml")
	require.Contains(t, text.Data, filepath.Base(file))
	require.NoError(t, os.WriteFile(path, []byte(text.Data[filepath.Base(file)]), 0o600))
	config, err := load(path)
	require.NoError(t, err)
	require.Len(t, set.Spec.VolumeClaimTemplates, 1)
	assert.Equal(t, mounted[set.Spec.VolumeClaimTemplates[0].Name], filepath.Dir(config.History))
	assert.Equal(t, account.Namespace, config.Lease.Namespace)
	_, port, err := net.SplitHostPort(config.Listen)
	require.NoError(t, err)
	require.Len(t, c.Ports, 1)
	assert.Equal(t, port, strconv.Itoa(int(c.Ports[0].ContainerPort)))
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe} {
		assert.Equal(t, c.Ports[0].Name, probe.HTTPGet.Port.String())
	}
}
