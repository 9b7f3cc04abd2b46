package explore

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"nodestorm/sim/history"
)

// Coverage is what a run has met, as keys that other runs may share: which calls of the
// target with which answers, and each fault that took effect with what went on at the time.
func Coverage(events []history.Entry, target string) (keys []string) {
	seen := map[string]bool{}
	waiting, booting := map[string]bool{}, map[string]bool{}
	leaving := map[string]bool{}
	for _, r := range events {
		name := r.Object.Namespace + "/" + r.Object.Name
		switch {
		case r.Object.Resource == "pods" && r.Source == history.API && r.Verb == "create" && r.Detail["subresource"] == nil:
			waiting[name] = true
		case r.Object.Resource == "pods" && (r.Verb == "running" || r.Verb == "delete"):
			delete(waiting, name)
		case r.Source == history.Cloud && r.Object.Resource == "instances" && r.Verb == "created",
			r.Object.Resource == "nodeclaims" && r.Verb == "create" && r.Code < 300:
			booting[r.Object.Name] = true
		case r.Source == history.Node && r.Verb == "ready":
			delete(booting, r.Object.Name)
		case r.Source == history.Cloud && r.Verb == "deleting":
			leaving[r.Object.Name] = true
		case r.Source == history.Cloud && r.Verb == "deleted":
			delete(leaving, r.Object.Name)
			delete(booting, r.Object.Name)
		}
		switch {
		case r.Actor == target && (r.Source == history.API || r.Source == history.Cloud):
			part := r.Detail.Text("subresource")
			seen[fmt.Sprintf("call %s %s/%s %d", r.Verb, r.Object.Resource, part, r.Code)] = true
		case r.Source == history.Fault && r.Verb == history.Effective:
			var states []string
			for _, s := range []struct {
				name string
				is   bool
			}{{"pods wait", len(waiting) > 0}, {"machines boot", len(booting) > 0}, {"machines leave", len(leaving) > 0}} {
				if s.is {
					states = append(states, s.name)
				}
			}
			effect := r.Detail.Text("effect")
			seen[fmt.Sprintf("fault %s of %s while %s", effect, r.Object.Resource, strings.Join(states, " and "))] = true
		}
	}
	for key := range seen {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// DiedAtOnce reports whether the target died by itself before the steady state, to which a
// schedule does nothing but bring demand.
func DiedAtOnce(events []history.Entry, target string) bool {
	for _, r := range events {
		kind := r.Detail.Text("kind")
		switch {
		case r.Source == history.Harness && r.Verb == history.Died && r.Actor == target:
			return true
		case r.Source == history.Harness && r.Verb == history.Killed, r.Source == history.Fault,
			r.Source == history.Step && r.Verb == "passed" && history.Role(kind) == history.Then:
			return false
		}
	}
	return false
}

// DiskFull is what the world said when it ended because a disk was full; empty if it did not.
func DiskFull(events []history.Entry) string {
	for _, r := range events {
		if r.Source == history.Harness && r.Verb == history.Died && r.Actor == history.Disk {
			said := r.Detail.Text("error")
			return said
		}
	}
	return ""
}

// klogPlace is where a line of klog comes from.
var klogPlace = regexp.MustCompile(`^[IWEF]\d{4} \S+\s+\d+ ([A-Za-z0-9_.-]+\.go:\d+)\]`)

// longestLine of a log is looked at, so much of it.
const longestLine = 64 << 10

// LogCoverage is which of its log lines the target has written: by their place in its
// source where they have it, or by their message.
func LogCoverage(log io.Reader) (keys []string, err error) {
	seen := map[string]bool{}
	lines := bufio.NewReaderSize(log, longestLine)
	for {
		line, isPrefix, err := lines.ReadLine()
		for isPrefix && err == nil {
			_, isPrefix, err = lines.ReadLine() // the rest of a line that is too long
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if m := klogPlace.FindSubmatch(line); m != nil {
			seen["log "+string(m[1])] = true
			continue
		}
		var said struct{ Level, Message, Error string }
		if len(line) > 0 && line[0] == '{' && json.Unmarshal(line, &said) == nil && said.Message != "" {
			seen["log "+said.Level+" "+normalize(said.Message)] = true
			if said.Error != "" {
				seen["error "+normalize(said.Error)] = true
			}
		}
	}
	for key := range seen {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys, nil
}

var differs = regexp.MustCompile(`"[^"]*"|\([^)]*\)|[a-z]+(-[a-z0-9]+)+|\d+`)

// normalize is a message without what differs from one object to the next.
func normalize(text string) string {
	text = differs.ReplaceAllString(text, "_")
	return text[:min(len(text), 120)]
}

// StepsBefore is how many steps had ended when the last of the evidence came, or by the end if
// there is none.
func StepsBefore(events []history.Entry, evidence []uint64) (n int) {
	for _, r := range events {
		if len(evidence) > 0 && r.Seq > slices.Max(evidence) {
			break
		}
		if r.Source == history.Step {
			n++
		}
	}
	return n
}
