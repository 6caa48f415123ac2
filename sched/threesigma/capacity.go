package threesigma

// use works out, for each running job, the probability that it still runs in each slot, and the room that its whole job
// is expected to hold.
func (m *model) use() {
	T := m.problem.Slots
	m.usage, m.room = resize(m.usage, T*len(m.runs)), resize(m.room, T*len(m.runs))
	for i, h := range m.runs {
		h.locate(&m.snap.Running[i], m.snap.Nodes, m.parts)
		h.usage = m.usage[i*T : (i+1)*T : (i+1)*T]
		m.policy.survive(h, &m.snap.Running[i], m.snap.Now)
		if h.room = h.usage; h.rest != nil && h.fault == nil {
			if width := m.policy.width(h.job, h.rest); width > 0 {
				h.room = m.room[i*T : (i+1)*T : (i+1)*T]
				m.policy.extend(h, width)
			}
		}
	}
}

// fill makes the problem's capacity by partition, resource and slot: what the nodes offer less what running jobs are
// expected to use (section 3.2).
func (m *model) fill() {
	m.sum()
	T := m.problem.Slots
	m.capacity = resize(m.capacity, len(m.total)*T)
	for row, c := range m.total {
		for t := range T {
			m.capacity[row*T+t] = c
		}
	}
	for _, h := range m.runs {
		m.consume(h)
	}
	if r := m.policy.reserved; r != nil && r.choice != nil {
		r.keep(m)
	}
	m.confine()
	for i, c := range m.capacity {
		m.capacity[i] = max(0, c)
	}
	res := len(m.problem.Resources)
	m.problem.Capacity = m.problem.Capacity[:0]
	for x := range m.problem.Partitions {
		rows := make([][]float64, res)
		for r := range rows {
			at := (x*res + r) * T
			rows[r] = m.capacity[at : at+T : at+T]
		}
		m.problem.Capacity = append(m.problem.Capacity, rows)
	}
}

// confine limits the capacity of the first slot to what is free now. That can be less than the running jobs leave:
// jobs that were told to stop hold their nodes until they have stopped.
func (m *model) confine() {
	T, res := m.problem.Slots, len(m.problem.Resources)
	m.free = resize(m.free, m.parts.Len()*res)
	m.gather(m.free, m.snap.Free)
	for row, f := range m.free {
		m.capacity[row*T] = min(m.capacity[row*T], f)
	}
}

// sum adds up what the nodes of each partition offer.
func (m *model) sum() {
	if m.totalOf == m.parts {
		return
	}
	m.totalOf = m.parts
	m.total = resize(m.total, m.parts.Len()*len(m.problem.Resources))
	m.gather(m.total, m.snap.Nodes.Capacity())
}

// gather sums amounts by node and resource into amounts by partition and resource.
func (m *model) gather(sums, amounts []float64) {
	res := len(m.problem.Resources)
	clear(sums)
	for x := range m.parts.Len() {
		for _, n := range m.parts.Nodes(x) {
			for r := range res {
				sums[x*res+r] += amounts[int(n)*res+r]
			}
		}
	}
}

// consume subtracts from the capacity what one running job is expected to use.
func (m *model) consume(h *held) {
	T := m.problem.Slots
	for _, a := range h.alloc {
		for res, d := range h.demand {
			if d == 0 {
				continue
			}
			row := m.capacity[(a.Partition*len(h.demand)+res)*T:]
			for t, u := range h.room {
				row[t] -= float64(float64(a.Count) * d * u)
			}
		}
	}
}
