package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"nodestorm/reports/page"
	"nodestorm/reports/story"
)

// One finger pans, two zoom, a tap shows an event.
func TestBrowserByTouch(t *testing.T) {
	ctx := browser(t)
	do(t, ctx, chromedp.EmulateViewport(800, 1200))
	call(t, ctx, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true, MaxTouchPoints: 5})
	open(t, ctx, affectedPage(t))
	do(t, ctx, script("document.getElementById('stage').scrollIntoView()"))
	box := eval[[]float64](t, ctx, "(() => { const b = document.getElementById('scroll').getBoundingClientRect(); return [b.left, b.top] })()")
	finger := func(id, x, y float64) *input.TouchPoint {
		return &input.TouchPoint{X: box[0] + x, Y: box[1] + y, ID: &id}
	}
	touch := func(kind input.DispatchTouchEventType, fingers ...*input.TouchPoint) {
		call(t, ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: fingers})
	}
	const start, move, end = input.DispatchTouchEventTypeTouchStart, input.DispatchTouchEventTypeTouchMove, input.DispatchTouchEventTypeTouchEnd

	wide, from := eval[float64](t, ctx, window), eval[float64](t, ctx, "nodestorm.state.from")
	touch(start, finger(1, 400, 60))
	for x := 420.; x <= 600; x += 20 {
		touch(move, finger(1, x, 60))
	}
	touch(end)
	until(t, ctx, fmt.Sprintf("nodestorm.state.from < %f", from-wide/5))
	if now := eval[float64](t, ctx, window); now < wide*.99 || now > wide*1.01 {
		t.Errorf("one finger changed the window from %.0f to %.0f", wide, now)
	}

	do(t, ctx, script("nodestorm.story()")) // a click would scroll the page
	wide = eval[float64](t, ctx, window)
	under := fmt.Sprintf("nodestorm.state.from + (%f - nodestorm.state.left) * (%s) / (nodestorm.state.width - nodestorm.state.left)", 500., window)
	before := eval[float64](t, ctx, under)
	touch(start, finger(1, 480, 60), finger(2, 520, 60))
	for by := 30.; by <= 120; by += 10 {
		touch(move, finger(1, 500-by, 60), finger(2, 500+by, 60))
	}
	touch(end)
	until(t, ctx, fmt.Sprintf("%s < %f", window, wide/4))
	if after := eval[float64](t, ctx, under); after-before > wide/50 || before-after > wide/50 {
		t.Errorf("between the fingers was %.3f s and is %.3f s", before/1e6, after/1e6)
	}

	// A tap on the pod's life.
	do(t, ctx, script("nodestorm.story()")) // a click would scroll the page
	spot := eval[[]float64](t, ctx, "(() => { const s = nodestorm.state, r = s.rows.find(r => r.life && r.group === 'Pods'), x = r.life.spans[0]; document.getElementById('scroll').scrollTop = r.y - 60; "+
		"return [nodestorm.xOf((x.from + Math.min(x.to, s.to)) / 2), r.y - document.getElementById('scroll').scrollTop + 8] })()")
	touch(start, finger(1, spot[0], spot[1]))
	touch(end)
	until(t, ctx, "!"+panel+".hidden && "+panel+".textContent.includes('Pod web')")
}

// What a screen reader gets: headings, tables with their captions, what is said
// aloud; and nothing of the canvases.
func TestBrowserForScreenReaders(t *testing.T) {
	ctx := browser(t)
	open(t, ctx, affectedPage(t))
	do(t, ctx, script("for (const d of document.querySelectorAll('details')) d.open = true"))
	heard := map[string][]string{} // names, by role
	do(t, ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		tree, err := cdp.Call(ctx, target, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err != nil {
			return err
		}
		for _, n := range tree.Nodes {
			var role, name string
			if n.Ignored || n.Role == nil || n.Name == nil || json.Unmarshal([]byte(n.Role.Value), &role) != nil || json.Unmarshal([]byte(n.Name.Value), &name) != nil {
				continue
			}
			heard[role] = append(heard[role], name)
		}
		return nil
	}))
	for role, names := range map[string][]string{
		"heading":      {"A Node that is not ready yet launches a second one", "How it happened", "The scenario"},
		"application":  {"Timeline. Its tables are below."},
		"columnheader": {"time", "decision", "name", "from", "to", "state"},
		"rowheader":    {"web", "default-6sgc7"},
		"searchbox":    {"Search events and objects"},
		"tab":          {"Events in this window"},
		"status":       {""},
	} {
		for _, name := range names {
			if !slices.ContainsFunc(heard[role], func(h string) bool { return strings.HasPrefix(h, name) }) {
				t.Errorf("no %s %q is heard, of %.30q", role, name, heard[role])
			}
		}
	}
	cells := strings.Join(heard["cell"], "\n") + strings.Join(heard["gridcell"], "\n")
	for _, state := range []string{"unschedulable", "launched", "karpenter creates NodeClaim default-pvqrf"} {
		if !strings.Contains(cells, state) {
			t.Errorf("no table has %q", state)
		}
	}
	for _, role := range []string{"button", "link", "checkbox", "combobox", "searchbox", "tab"} {
		if slices.Contains(heard[role], "") {
			t.Errorf("a %s has no name: %.30q", role, heard[role])
		}
	}
	if n := len(heard["Canvas"]); n > 0 {
		t.Errorf("%d pictures are read aloud", n)
	}
}

// The chain of a pod that Cluster Autoscaler makes room for.
func TestBrowserShowsAScaleUp(t *testing.T) {
	ctx := browser(t)
	const ca = "cluster-autoscaler"
	event := func(seq int, at float64, source, verb, resource, namespace, name, actor string, code int, detail string) string {
		return fmt.Sprintf(`{"seq":%d,"virtual":%.0f,"real":%.0f,"source":%q,"verb":%q,"object":{"resource":%q,"namespace":%q,"name":%q},"actor":%q,"code":%d,"detail":%s}`+"\n", seq, at*1e9, at*1e8, source, verb, resource, namespace, name, actor, code, detail)
	}
	open(t, ctx, write(t, page.Run{Story: storyOf(t, story.Run{ID: "x", Autoscaler: ca}, event(1, 1, "step", "passed", "", "", "", "godog", 0, `{"kind":"Action","text":"a pod is created"}`)+
		event(2, 1, "api", "create", "pods", "default", "web", "admin", 201, `{}`)+
		event(3, 10, "log", "plan", "nodegroups", "", "pool1", ca, 0, `{"message":"plans to scale pool1 from 0 to 1","from":0,"to":1,"Pods":"default/web"}`)+
		event(4, 11, "cloud", "created", "instances", "", "pool1-a", "fakecloud", 0, `{"group":"pool1","hourlyEUR":0.0066}`)+
		event(5, 11, "cloud", "POST /servers", "servers", "", "pool1-a", ca, 201, `{"group":"pool1"}`)+
		event(6, 60, "api", "create", "nodes", "", "pool1-a", "sim-node", 201, `{"providerID":"hcloud://1","ready":"True: KubeletReady","taints":[]}`)+
		event(7, 61, "api", "create", "pods", "default", "web", "kube-scheduler", 201, `{"subresource":"binding","node":"pool1-a"}`)+
		event(8, 62, "clock", "pace", "", "", "", "", 0, `{"seconds":60,"factor":31,"lagP99Ms":100,"lagMaxMs":190}`)+
		event(9, 3662, "harness", "ended", "", "", "", "", 0, `{}`))}))
	do(t, ctx, script("nodestorm.select(nodestorm.state.runs[0], {event: 1})"))
	until(t, ctx, "!"+panel+".hidden")
	if chain := eval[string](t, ctx, "[...document.querySelectorAll('.chain button')].map(b => b.textContent).join(' → ')"); chain != "Pod web → scale-up pool1 0 → 1 → server pool1-a → instance pool1-a → Node pool1-a" {
		t.Errorf("the chain of the pod is %q", chain)
	}
	if curves := eval[string](t, ctx, "nodestorm.state.runs[0].curves.map(c => c.name + ' ' + c.value[c.value.length - 1].toFixed(4)).join()"); curves !=
		"pods pending 0.0000,instances 1.0000,Nodes 1.0000,Nodes Ready 1.0000,node-hours 1.0142,cost an hour 0.0066,cost 0.0067,clock factor 31.0000,timer lag 190.0000" {
		t.Errorf("the curves end at %s", curves)
	}
	shot(t, ctx, "scale-up")
}

// Marks on events, set with the mouse and with a key, make the command line of nodestorm symptom.
func TestBrowserMarksRecords(t *testing.T) {
	ctx := browser(t)
	path := affectedPage(t)
	open(t, ctx, path)
	seqs := eval[[]int](t, ctx, "[...nodestorm.state.runs[0].shown].slice(0, 3).map(i => nodestorm.state.runs[0].seq[i])")
	command := func(lines ...int) string {
		return fmt.Sprintf("document.getElementById('command').value === 'nodestorm symptom %s --lines %s'", filepath.Dir(path),
			strings.Trim(strings.ReplaceAll(fmt.Sprint(lines), " ", ","), "[]"))
	}
	const third = "[...document.querySelectorAll('#grid .seq button')].find(b => b.textContent === '%d')"
	do(t, ctx, script("nodestorm.look(...[nodestorm.state.runs[0].begin, nodestorm.state.runs[0].end])"))
	until(t, ctx, "Boolean("+fmt.Sprintf(third, seqs[2])+")")
	do(t, ctx, script(fmt.Sprintf(third, seqs[2])+".click()"))
	until(t, ctx, "!document.getElementById('marks').hidden && "+command(seqs[2]))
	until(t, ctx, fmt.Sprintf(third, seqs[2])+".getAttribute('aria-pressed') === 'true'")

	do(t, ctx, script("nodestorm.select(nodestorm.state.runs[0], { event: nodestorm.state.runs[0].shown[0], quiet: true }); document.getElementById('scroll').focus()"))
	do(t, ctx, chromedp.KeyEvent("m"))
	until(t, ctx, command(seqs[0], seqs[2])) // in the order of time
	until(t, ctx, "document.getElementById('say').textContent.includes('2 marks')")
	do(t, ctx, chromedp.KeyEvent("m"))
	until(t, ctx, command(seqs[2]))

	// The panel of an event has a mark, too, and all of them go at once.
	do(t, ctx, script("nodestorm.select(nodestorm.state.runs[0], { event: nodestorm.state.runs[0].shown[1] })"))
	until(t, ctx, "!"+panel+".hidden")
	do(t, ctx, chromedp.Click(chromedp.CSS(".tick")))
	until(t, ctx, command(seqs[1], seqs[2]))
	do(t, ctx, script("document.getElementById('unmark').click()"))
	until(t, ctx, "document.getElementById('marks').hidden")
}
