package kubernetes

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

var (
	errDevices   = errors.New("kubernetes: resource claims are not understood")
	errUnbound   = errors.New("kubernetes: a volume claim is not bound")
	errEphemeral = errors.New("kubernetes: ephemeral volumes with claims of their own are not understood")
)

// claim is a claim of a volume.
type claim struct {
	version uint64
	uid     types.UID
	volume  string // that it is bound to, "" if it is not
}

// volume is a persistent volume.
type volume struct {
	version uint64
	uid     types.UID
	tied    bool // to some nodes
}

// claimsOf are the names of the claims of volumes that the pod names.
func claimsOf(spec *corev1.PodSpec) []string {
	var out []string
	for i := range spec.Volumes {
		if c := spec.Volumes[i].PersistentVolumeClaim; c != nil && !slices.Contains(out, c.ClaimName) {
			out = append(out, c.ClaimName)
		}
	}
	return out
}

// unbound is what keeps pods with these claims from running anywhere: nobody binds claims, or makes volumes, for pods
// of this scheduler's, and which nodes a volume can be had on is not known.
func (m *model) unbound(namespace string, claims []string) error {
	for _, name := range claims {
		c := m.claims[namespace+"/"+name]
		if c == nil || c.volume == "" {
			return fmt.Errorf("%w: %q; those that wait until a pod has a node are not supported", errUnbound, name)
		}
		if v := m.volumes[c.volume]; v == nil {
			return fmt.Errorf("kubernetes: the volume %q of the claim %q is not known", c.volume, name)
		} else if v.tied {
			return fmt.Errorf("kubernetes: the volume %q of the claim %q is tied to nodes, which is not supported", c.volume,
				name)
		}
	}
	return nil
}

func (m *model) changeClaim(o *corev1.PersistentVolumeClaim, deleted bool, floor uint64) {
	key, version := o.Namespace+"/"+o.Name, number(o.ResourceVersion)
	old := m.claims[key]
	if old == nil && version <= floor && floor > 0 || old != nil && version < old.version {
		return
	}
	c := &claim{version: version, uid: o.UID}
	if o.Status.Phase == corev1.ClaimBound {
		c.volume = o.Spec.VolumeName
	}
	m.claims[key] = c
	if deleted {
		delete(m.claims, key)
	}
	if deleted || old == nil || old.volume != c.volume {
		m.touchClaimants(key)
	}
}

func (m *model) changeVolume(o *corev1.PersistentVolume, deleted bool, floor uint64) {
	version := number(o.ResourceVersion)
	old := m.volumes[o.Name]
	if old == nil && version <= floor && floor > 0 || old != nil && version < old.version {
		return
	}
	v := &volume{version: version, uid: o.UID, tied: o.Spec.NodeAffinity != nil && o.Spec.NodeAffinity.Required != nil}
	m.volumes[o.Name] = v
	if deleted {
		delete(m.volumes, o.Name)
	}
	if ref := o.Spec.ClaimRef; ref != nil && (deleted || old == nil || old.tied != v.tied) {
		m.touchClaimants(ref.Namespace + "/" + ref.Name)
	}
}

// touchClaimants has the jobs told again whose pods name a claim.
func (m *model) touchClaimants(key string) {
	for id := range m.claimants[key] {
		m.dirtyGangs[id] = true
	}
}

// claiming notes that the pod's job is another with its claims, and with the Job that it is no gang of.
func (m *model) claiming(p *pod) {
	note := func(key string) {
		if m.claimants[key] == nil {
			m.claimants[key] = map[string]struct{}{}
		}
		m.claimants[key][p.gang] = struct{}{}
	}
	for _, name := range p.shape.claims {
		note(p.namespace + "/" + name)
	}
	if p.job != "" && p.job != p.gang {
		note(p.job)
	}
}

// forgetClaimants drops the jobs that name claims no more.
func (m *model) forgetClaimants() {
	clear(m.claimants)
	for _, p := range m.pods {
		if p.shape != nil {
			m.claiming(p)
		}
	}
}
