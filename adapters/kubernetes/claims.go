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

// claim is a persistent volume claim.
type claim struct {
	version uint64
	uid     types.UID
	volume  string // that it is bound to, "" if it is not
}

// volume is a persistent volume.
type volume struct {
	version uint64
	uid     types.UID
	tied    bool // to certain nodes
}

// claimsOf are the names of the volume claims that the pod uses.
func claimsOf(spec *corev1.PodSpec) []string {
	var out []string
	for i := range spec.Volumes {
		if c := spec.Volumes[i].PersistentVolumeClaim; c != nil && !slices.Contains(out, c.ClaimName) {
			out = append(out, c.ClaimName)
		}
	}
	return out
}

// unbound is the reason why pods with these claims cannot run. Nobody binds claims or provisions volumes for pods of
// this scheduler, and it does not know which nodes can reach a volume.
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

// touchClaimants reports jobs again whose pods use the claim.
func (m *model) touchClaimants(key string) {
	for id := range m.claimants[key] {
		m.dirtyGangs[id] = true
	}
}

// claiming indexes the pod's job by its claims and by a Job that controls it and is no gang.
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

// forgetClaimants removes jobs from the index that no longer use the claims.
func (m *model) forgetClaimants() {
	clear(m.claimants)
	for _, p := range m.pods {
		if p.shape != nil {
			m.claiming(p)
		}
	}
}
