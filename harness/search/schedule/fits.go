package schedule

// mostDaemons is what a pod of each daemon requests together at most, in millicores: the smallest
// Node, of the control plane, has one processor.
const mostDaemons = 400

// fits reports whether machines of the largest type are enough for all demand at any time, so
// that a pod never waits for ever for a good reason. What acts take away is not counted on.
func (s Schedule) fits(at site) bool {
	c := capacity{demands: map[string]demand{}}
	for _, g := range s.Groups {
		if at.Types[g.Type] > c.cores {
			c.cores, c.machines, c.group = at.Types[g.Type], g.Max, g.Name
		}
	}
	if !at.groupsHaveBounds {
		c.machines = 12
	}
	for _, a := range s.Acts {
		c.apply(a)
		// mutant: demand that no machine has room for is drawn
		if needed, possible := c.needed(); !possible || needed >= c.machines {
			return false
		}
	}
	return true
}

// capacity is how many machines of the largest type there may be, and what is to fit on them.
type capacity struct {
	group           string // of the largest type
	cores, machines int
	daemons         int // millicores on each
	demands         map[string]demand
}

// demand is that of a Deployment or a Job.
type demand struct {
	pods, cpu int // cpu: millicores of each pod
	apart     bool
}

// apply takes an act into account.
func (c *capacity) apply(a Act) {
	switch a.Do {
	case "daemons":
		c.daemons += a.CPU
	case "maximum": // a later one may be larger again: how many were lost by then is not known
		if a.Name == c.group {
			c.machines = min(c.machines, a.Pods)
		}
	case "remove-group":
		if a.Name == c.group {
			c.machines = 0
		}
	case "deploy", "job":
		c.demands[a.Name] = demand{a.Pods, a.CPU, a.Spread == "nodes"}
		if a.Held {
			c.machines--
		}
	case "scale":
		d := c.demands[a.Name]
		d.pods = a.Pods
		c.demands[a.Name] = d
	case "delete":
		delete(c.demands, a.Name)
	case "drain", "cordon", "budget": // pods that may not be moved fill no gaps
		c.machines--
	}
}

// needed is how many machines the demand needs, and whether any number is enough.
func (c *capacity) needed() (machines int, possible bool) {
	if c.daemons > mostDaemons {
		return 0, false
	}
	for _, d := range c.demands {
		if d.cpu == 0 {
			continue
		}
		// mutant: what daemons take is there for others
		each := (1000*c.cores - 500 - c.daemons) / d.cpu // a kubelet keeps some for itself
		if d.apart {
			each = min(each, 1)
		}
		if each <= 0 {
			return 0, false
		}
		machines += (d.pods + each - 1) / each
	}
	return machines, true
}
