package baseline

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/sched"
)

// cache keeps what kinds of job ask for on the present nodes from cycle to cycle.
type cache struct {
	nodes *sched.NodeSet
	wants map[kind]*want
	sites map[*sched.Site]*site
	all   []*site
	free  []float64 // what was free at the start of the cycle
	idle  bool      // nothing has been taken since, by the last plan
}

// kind tells jobs apart by where they may run at which speeds: the sites of their levels, in reverse.
type kind [sched.MaxSpeeds]*sched.Site

// want is a kind of job: the demand of its tasks and the sites they may go to.
type want struct {
	demand   []float64
	sites    []*site // the fastest first; the last is required
	required *site
	err      error
	// obstacle is that of the last gang that the nodes cannot hold.
	obstacle *sched.Obstacle
}

// site is what is known of a site in this cycle.
type site struct {
	*sched.Site
	bound int // tasks that may fit at most at this point of the cycle
	// evicted is the fewest tasks for which no room could be made in this cycle.
	evicted int
}

// renew starts a cycle. It forgets all, and says so, if the nodes have changed or, now and
// then, when more kinds are kept than jobs wait.
func (c *cache) renew(s *sched.Snapshot, news *sched.News) (forgot bool) {
	if c.nodes != s.Nodes || len(c.wants) > 2*len(s.Pending)+1024 {
		c.nodes = s.Nodes
		c.wants = make(map[kind]*want)
		c.sites = make(map[*sched.Site]*site)
		c.all = c.all[:0]
		forgot = true
	}
	same := news.SameFree
	if news.Known {
		c.free = c.free[:0] // it need not be compared
	} else if same = slices.Equal(c.free, s.Free); !same {
		c.free = append(c.free[:0], s.Free...)
	}
	if !c.idle || !same {
		c.forgetBounds()
	}
	c.idle = true
	for _, p := range c.all {
		p.evicted = math.MaxInt
	}
	return forgot
}

// forgetBounds is due whenever resources become free.
func (c *cache) forgetBounds() {
	for _, p := range c.all {
		p.bound = math.MaxInt
	}
}

func (c *cache) want(job *sched.Job) *want {
	demand, err := c.nodes.Demand(job.Demand)
	if err != nil {
		return &want{err: err, required: &site{Site: &sched.Site{Set: job.Required}}}
	}
	var k kind
	last := 0
	if job.Speeds.Even() {
		k[0] = c.nodes.Site(job.Required, demand)
	} else {
		levels := job.Levels()
		last = len(levels) - 1
		for l := range levels {
			k[last-l] = c.nodes.Site(levels[l].On, demand)
		}
	}
	w := c.wants[k]
	if w == nil {
		w = &want{demand: demand, required: c.site(k[0])}
		for l := last; l > 0; l-- {
			if !slices.Equal(k[l].Nodes, k[l-1].Nodes) {
				w.sites = append(w.sites, c.site(k[l]))
			}
		}
		w.sites = append(w.sites, w.required)
		c.wants[k] = w
	}
	return w
}

func (c *cache) site(of *sched.Site) *site {
	s := c.sites[of]
	if s == nil {
		s = &site{Site: of, bound: math.MaxInt, evicted: math.MaxInt}
		c.sites[of] = s
		c.all = append(c.all, s)
	}
	return s
}
