package fault

import (
	"fmt"
	"io"
	"os"
	"strings"

	"nodestorm/sim/fault"
	"nodestorm/sim/strict"
)

// Plan is when and how often a fault acts.
type Plan = fault.Plan

// written is a fault as a file has it: the effect is the one field of the lower part
// that is there.
type written struct {
	Name  string `json:"name"`
	Match Match  `json:"match"`
	Plan

	Refuse      *Refuse      `json:"refuse"`
	RateLimit   *RateLimit   `json:"rateLimit"`
	Hang        *Hang        `json:"hang"`
	LoseReply   *LoseReply   `json:"loseReply"`
	Delay       *Delay       `json:"delay"`
	AlterReply  *AlterReply  `json:"alterReply"`
	Stale       *Stale       `json:"stale"`
	Partial     *Partial     `json:"partial"`
	Missing     *Missing     `json:"missing"`
	ActionHangs *ActionHangs `json:"actionHangs"`
	ActionTakes *ActionTakes `json:"actionTakes"`
	ActionFails *ActionFails `json:"actionFails"`
	TurnsOff    *TurnsOff    `json:"turnsOff"`
	Vanishes    *Vanishes    `json:"vanishes"`
	Interrupted *Interrupted `json:"interrupted"`
	Unavailable *Unavailable `json:"unavailable"`
	Retired     *Retired     `json:"retired"`
	NotCreated  *NotCreated  `json:"notCreated"`
	HalfDeleted *HalfDeleted `json:"halfDeleted"`
}

// maxFile is more than any hand-written list of faults needs, in bytes.
const maxFile = 1 << 20

// Load reads a file of faults: YAML or JSON with the one field "faults", a list. Operations is as
// in Fault.Check. An error is one line that names the file, the fault and the field.
func Load(file string, operations []string) ([]Fault, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s: more than %d bytes are too many for a list of faults", file, maxFile)
	}
	faults, err := Parse(text, operations)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return faults, nil
}

// Parse is Load without the file.
func Parse(text []byte, operations []string) ([]Fault, error) {
	var list struct {
		Faults []written `json:"faults"`
	}
	if err := strict.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	var faults []Fault
	names := map[string]bool{}
	for _, w := range list.Faults {
		f, err := w.fault()
		if err != nil {
			return nil, err
		}
		if err := f.Check(operations); err != nil {
			return nil, err
		}
		if names[f.Name] {
			return nil, fmt.Errorf("fault %q is there twice: want names unique in a cloud", f.Name)
		}
		names[f.Name] = true
		faults = append(faults, f)
	}
	return faults, nil
}

func (w *written) fault() (Fault, error) {
	f := Fault{Name: w.Name, Match: w.Match, Plan: w.Plan}
	effects := w.effects()
	switch len(effects) {
	case 1:
		f.Effect = effects[0]
		return f, nil
	case 0:
		return f, fmt.Errorf("fault %q: it has no effect (allowed: %s)", w.Name, effectNames())
	}
	return f, fmt.Errorf("fault %q: it has two effects, %s and %s: want one", w.Name, effects[0], effects[1])
}

func (w *written) effects() []Effect {
	var all []Effect
	all = add(all, w.Refuse)
	all = add(all, w.RateLimit)
	all = add(all, w.Hang)
	all = add(all, w.LoseReply)
	all = add(all, w.Delay)
	all = add(all, w.AlterReply)
	all = add(all, w.Stale)
	all = add(all, w.Partial)
	all = add(all, w.Missing)
	all = add(all, w.ActionHangs)
	all = add(all, w.ActionTakes)
	all = add(all, w.ActionFails)
	all = add(all, w.TurnsOff)
	all = add(all, w.Vanishes)
	all = add(all, w.Interrupted)
	all = add(all, w.Unavailable)
	all = add(all, w.Retired)
	all = add(all, w.NotCreated)
	return add(all, w.HalfDeleted)
}

func add[E Effect](all []Effect, effect *E) []Effect {
	if effect == nil {
		return all
	}
	return append(all, *effect)
}

// Effects returns one zero value of each effect.
func Effects() []Effect {
	return []Effect{
		Refuse{}, RateLimit{}, Hang{}, LoseReply{}, Delay{}, AlterReply{}, Stale{}, Partial{}, Missing{},
		ActionHangs{}, ActionTakes{}, ActionFails{}, TurnsOff{}, Vanishes{}, Interrupted{}, Unavailable{}, Retired{}, NotCreated{}, HalfDeleted{},
	}
}

func effectNames() string {
	var names []string
	for _, e := range Effects() {
		names = append(names, e.String())
	}
	return strings.Join(names, ", ")
}

func someOf(names []string) string { return strings.Join(names[:min(6, len(names))], ", ") }
