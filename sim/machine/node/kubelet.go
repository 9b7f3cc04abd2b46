package node

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/node/agenda"
	"nodestorm/sim/time/seed"
)

// kubelet is one machine. Its fields are guarded by the fleet's mutex; as its key
// is in work only once at a time, a call in flight is the only one of this kubelet.
//
//	booting ──(BootDelay)──▶ registered, NotReady ──(ReadyDelay)──▶ Ready
//	                              ▲                                   │
//	                              └─────────── faults ◀───────────────┘
type kubelet struct {
	fleet   *Fleet
	spec    Spec
	profile Profile // spec.Profile with its intervals filled in
	adopted bool
	index   int // numbers the fleet's machines, for the address

	born       time.Time // of the machine; zero until the fleet runs
	registered time.Time // of the first word; zero means not yet
	made       bool      // the Node is the kubelet's own, not one that was there
	restarted  bool      // came back from a restart and has not reported since

	// node is the object as last seen, by watch or as an answer. Nil means there is
	// none. created is when its present incarnation appeared.
	node    *corev1.Node
	created time.Time

	status statusLoop
	lease  leaseLoop
	agents []agentState
	faults fault.Set[*armed]

	retries map[string]retry // of the calls that failed last time, by their name
	podView podView          // the kubelet's state as pods last saw it
}

func newKubelet(f *Fleet, spec Spec) *kubelet {
	k := &kubelet{fleet: f, spec: spec, profile: spec.Profile.withDefaults(), index: f.booted, retries: map[string]retry{}}
	f.booted++
	if f.nodeWork != nil {
		k.born = f.cfg.Clock.Now()
	}
	k.status.random = k.stream("status")
	k.lease.random = k.stream("lease")
	for _, a := range k.profile.Agents {
		k.agents = append(k.agents, agentState{Agent: a})
	}
	k.arm(k.profile.Faults, false)
	return k
}

func (k *kubelet) stream(purpose string) *rand.Rand {
	return seed.Stream(k.fleet.cfg.Seed, "node", k.spec.Name, purpose)
}

// see takes in the Node as the API server has it, unless it is older than what is
// known already: the watch may lag behind the answer to our own write.
func (k *kubelet) see(node *corev1.Node) {
	if k.node != nil && k.node.UID == node.UID && older(node.ResourceVersion, k.node.ResourceVersion) {
		return
	}
	if k.node == nil || k.node.UID != node.UID {
		k.created = k.fleet.cfg.Clock.Now()
		for i := range k.agents {
			k.agents[i].done = notSet
		}
	}
	k.node = node
}

// call is one request to the API server with its name. It runs without the fleet's
// mutex and takes it to note the outcome. The zero value is no call.
type call struct {
	name string
	do   func(context.Context) error
}

// syncNode makes the calls of one node that are due, one after the other, and
// returns when the next is.
func (f *Fleet) syncNode(ctx context.Context, name string) time.Duration {
	for ctx.Err() == nil {
		f.mu.Lock()
		k := f.kubelets[name]
		if k == nil {
			f.mu.Unlock()
			return agenda.Never
		}
		now := f.cfg.Clock.Now()
		next, at := k.next(now)
		k.revisitPods(now)
		f.mu.Unlock()
		if next.do == nil {
			return delayUntil(now, at)
		}
		err := next.do(ctx)
		f.mu.Lock()
		k.settle(next.name, err)
		f.mu.Unlock()
	}
	return agenda.Never
}

// next returns the call that is due, or when there may be one. A call that failed
// holds up no other.
func (k *kubelet) next(now time.Time) (_ call, at time.Time) {
	due := &earliest{now: now}
	due.reached(k.networkUpAt())
	k.advanceFaults(due)
	if k.cut(now) {
		return call{}, due.at
	}
	var candidates []call
	if !k.registered.IsZero() && k.node != nil {
		candidates = append(k.nextTaints(due), k.nextFaulty(now))
	}
	if !k.down(now) {
		candidates = append(candidates, k.nextReport(due), k.nextLease(due))
	}
	for _, c := range candidates {
		if c.do == nil {
			continue
		}
		if r, failed := k.retries[c.name]; !failed || due.reached(r.at) {
			return c, now
		}
	}
	return call{}, due.at
}

// nextReport is the kubelet's first word, or its next.
func (k *kubelet) nextReport(due *earliest) call {
	speechless := k.registered.IsZero() || k.restarted
	switch {
	case k.registered.IsZero() && !due.reached(k.firstWord()):
	case k.node == nil && speechless:
		return call{"registering node", k.register}
	case k.node != nil && (speechless || due.reached(k.reportAt(due.now))):
		return call{"reporting status of node", k.report}
	}
	return call{}
}

// firstWord is when the kubelet registers. Zero means never.
func (k *kubelet) firstWord() time.Time {
	boot := Boot{}
	for _, e := range forEachFault[AtBoot](k) {
		e.Boot(&boot)
	}
	if boot.Never {
		return time.Time{}
	}
	return k.born.Add(k.profile.BootDelay + boot.Late)
}

// register creates the Node with a complete status, as a kubelet does at its start.
// One that is there already is taken over by the report that follows.
func (k *kubelet) register(ctx context.Context) error {
	f := k.fleet
	f.mu.Lock()
	now, say := f.cfg.Clock.Now(), k.ready(f.cfg.Clock.Now())
	object := k.object(now, say)
	f.mu.Unlock()

	nodes := f.cfg.Client.CoreV1().Nodes()
	created, err := nodes.Create(ctx, object, metav1.CreateOptions{})
	there := apierrors.IsAlreadyExists(err)
	if there {
		created, err = nodes.Get(ctx, k.spec.Name, metav1.GetOptions{})
	}
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	k.see(created)
	if !there {
		k.made = true
		k.reported(now, say, true)
		k.judgeFaults(now)
	}
	return nil
}

// retry is a call to be made again.
type retry struct {
	failures int
	at       time.Time
}

// settle notes how a call went. A failed one is made again after 200 ms, doubling up
// to 7 s: the kubelet's own back-off (component-helpers, apimachinery/lease).
func (k *kubelet) settle(name string, err error) {
	if err == nil {
		delete(k.retries, name)
		return
	}
	r := k.retries[name]
	r.failures++
	r.at = k.fleet.cfg.Clock.Now().Add(backoff(r.failures))
	k.retries[name] = r
	k.fleet.failed(name+" "+k.spec.Name, err)
}

func backoff(failures int) time.Duration {
	return min(100*time.Millisecond<<min(failures, 10), 7*time.Second)
}

// emit records an event of this node and offers it to the faults that wait for one.
func (k *kubelet) emit(now time.Time, verb string, detail map[string]any) {
	k.record(history.Event{At: now, Verb: verb, Object: nodeObject(k.spec.Name), Actor: Actor, Detail: detail})
}

func (k *kubelet) record(e history.Event) {
	e.Source = history.Node
	k.fleet.cfg.History.Record(e)
	for _, f := range k.faults.All() {
		f.offer(e)
	}
}

func nodeObject(name string) history.Object { return history.Object{Resource: "nodes", Name: name} }

// address is the machine's own: 10.0.0.0/9 in the order of booting.
func (k *kubelet) address() string {
	n := k.index + 1
	return fmt.Sprintf("10.%d.%d.%d", n>>16&0x7f, n>>8&0xff, n&0xff)
}

// earliest collects the next time at which something may be due.
type earliest struct {
	now time.Time
	at  time.Time // zero means never
}

// reached reports whether at has come. If not, it is remembered; zero is never.
func (e *earliest) reached(at time.Time) bool {
	if at.IsZero() {
		return false
	}
	if !at.After(e.now) {
		return true
	}
	if e.at.IsZero() || at.Before(e.at) {
		e.at = at
	}
	return false
}

// leaseLoop and statusLoop are the two heartbeats, see heartbeat.go.
type leaseLoop struct {
	random *rand.Rand
	held   *coordinationv1.Lease // as last written; nil means none yet
	dueAt  time.Time             // zero until registered
	sentAt time.Time
}

type statusLoop struct {
	random  *rand.Rand
	said    condition     // the Ready condition as last reported
	sentAt  time.Time     // of the last report
	delay   time.Duration // added to the report interval, may be negative
	tick    time.Time     // of the loop that computes the status
	pending time.Time     // the tick at which a report goes out; zero means none
}
