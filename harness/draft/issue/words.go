package issue

import (
	"regexp"
	"strings"

	"nodestorm/harness/draft"
	"nodestorm/sim/oneline"
)

var (
	// about are words of issues about each program, and named is what it is called, which counts for more.
	about = map[string]*regexp.Regexp{
		draft.Karpenter:         regexp.MustCompile(`(?i)node ?claim|node ?pool|node ?class`),
		draft.ClusterAutoscaler: regexp.MustCompile(`(?i)node ?group|scale[ -]?(?:up|down)|autodiscovery|static_autoscaler`),
		ClusterAPI: regexp.MustCompile(`(?i)\bcap[iazdvo]\b|machine ?health ?check|machine ?deployment|machine ?set|` +
			`kubeadm ?control ?plane`),
	}
	named = map[string]*regexp.Regexp{
		draft.Karpenter:         regexp.MustCompile(`(?i)\bkarpenter\b`),
		draft.ClusterAutoscaler: regexp.MustCompile(`(?i)\bcluster[ -]?autoscaler\b`),
		ClusterAPI:              regexp.MustCompile(`(?i)\bcluster[ -]api\b|\bcapi\b|\bclusterctl\b|capi-controller`),
	}
	release = regexp.MustCompile(`\bv?(\d{1,2}\.\d{1,3}\.\d{1,3})\b`)
	image   = regexp.MustCompile(`(cluster-autoscaler|karpenter|cluster-api)[^/:@\s]*(?:/controller|-controller)?:v?(\d+\.\d+\.\d+)`)
	others  = regexp.MustCompile(`(?i)\bkubernetes\b|\bk8s\b|kubectl|kubelet|\beks\b|server version|client version|` +
		`gitversion|\bgo ?version|\bos\b|fixed in|works (?:in|with|on)`)
	ofForm   = regexp.MustCompile(`(?i)component version|chart version|image ?version|\btag\b|\brelease\b|\bversion\b`)
	linkTo   = regexp.MustCompile(`https?://github\.com/([A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100})/(?:issues|pull)/(\d{1,9})\b`)
	heading  = regexp.MustCompile(`(?i)^(?:#{1,2} +|title: *)(\S.*)$`)
	formHead = regexp.MustCompile(`(?i)^\W*(?:description|what|bug|version|steps|expected|actual|observed|environment|describe|` +
		`which|how|anything|reproduction|additional|logs|config)`)
	argument = regexp.MustCompile("(?:^|[\\s`\"'\\[,(])(--[a-z][a-z0-9-]{2,60})(?:=|: +| +)[\"']?([^\\s\"'`,)|]{1,100})")
)

// readWords takes what a piece says in words: the title, the programs, their releases, and flags, wherever they are.
func (t *text) readWords(p piece) {
	current := "" // the program that was named last
	for _, line := range p.lines {
		line = line[:min(len(line), 4096)]
		if m := heading.FindStringSubmatch(line); !p.fenced && t.title == "" && m != nil && !formHead.MatchString(m[1]) {
			t.title = oneline.Cut(strings.Trim(m[1], " #*`"), 100)
		}
		if m := linkTo.FindStringSubmatch(line); m != nil && t.linked == "" {
			t.linked = m[1] + "#" + m[2]
		}
		for _, name := range Programs() {
			t.mentions[name] += min(5, len(about[name].FindAllString(line, 6)))
			if named[name].MatchString(line) {
				t.mentions[name] += 3
				current = name
			}
		}
		t.release(line, current)
		for _, m := range argument.FindAllStringSubmatch(line, 50) {
			if draft.Shapes(m[1]) && len(t.flags) < 200 {
				t.flags = append(t.flags, m[1]+"="+m[2])
			}
		}
	}
}

// release takes the release that a line gives a program, or, in a form, the one that was named last.
func (t *text) release(line, current string) {
	if m := image.FindStringSubmatch(line); m != nil {
		t.releases[m[1]] = m[2]
		return
	}
	m := release.FindStringSubmatch(line)
	if m == nil || klogLine.MatchString(line) || jsonLine.MatchString(line) {
		return
	}
	for _, name := range Programs() {
		if named[name].MatchString(line) && !strings.Contains(line, "fixed in") {
			current = name
		}
	}
	if current == "" {
		current = t.program()
	}
	if current == "" || t.releases[current] != "" {
		return
	}
	if named[current].MatchString(line) || ofForm.MatchString(line) && !others.MatchString(line) {
		t.releases[current] = m[1]
	}
}

// program is the one that the text is about most so far; empty if it is about none.
func (t *text) program() (best string) {
	for _, name := range Programs() {
		if t.mentions[name] > t.mentions[best] {
			best = name
		}
	}
	return best
}
