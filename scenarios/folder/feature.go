package folder

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"strings"

	gherkin "github.com/cucumber/gherkin/go/v26"
	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/scenarios"
)

func (f *Folder) readFeature(fsys fs.FS, name string, text []byte) {
	ids := &messages.Incrementing{}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // Windows' editors write it
	document, err := scenarios.ParseFeature(text, ids.NewId)
	if err != nil {
		f.problem(name, scenarios.LineIn(err.Error()), "", "%v", err)
		return
	}
	lines, rows, ok := f.checkShape(name, document)
	if !ok {
		return
	}
	f.features[name] = text
	pickles := gherkin.Pickles(*document, name, ids.NewId)
	nameRows(pickles, rows)
	base := slug(strings.TrimSuffix(path.Base(name), featureSuffix))
	for _, pickle := range pickles {
		line := lines[pickle.AstNodeIds[0]]
		s, of := scenarios.Scenario{Name: pickle.Name, File: f.file(name), Line: line}, parts{files: []string{name}}
		row, isRow := rows[pickle.AstNodeIds[len(pickle.AstNodeIds)-1]]
		if isRow {
			s.Line, of.isRow = row.line, true
		}
		hasThen := false
		for _, tag := range pickle.Tags {
			s.Tags = append(s.Tags, tag.Name)
		}
		for _, step := range pickle.Steps {
			hasThen = hasThen || step.Type == messages.PickleStepType_OUTCOME
			s.Steps = append(s.Steps, scenarios.Step{PickleStep: step, Line: lines[step.AstNodeIds[0]]})
			if file, is := scenarios.FileOf(step.Text); is {
				f.readBeside(fsys, name, file, lines[step.AstNodeIds[0]])
				of.files = append(of.files, path.Join(path.Dir(name), file))
			}
		}
		if !hasThen {
			f.problem(name, s.Line, "", "the scenario %q has no Then: say what ought to hold, or else nothing is put to the test", s.Name)
		}
		id := base
		if len(pickles) > 1 {
			id += "-" + slug(s.Name)
		}
		s.Record = scenarios.Unrecorded(strings.Trim(id[:min(len(id), 80)], "-"), "")
		s.Record.Title, s.Record.Feature = s.Name, path.Join(f.mount, name)
		s.Record.SetLine(line, row.others)
		f.byFile[name] = append(f.byFile[name], len(f.Scenarios))
		f.Scenarios, f.made = append(f.Scenarios, s), append(f.made, of)
	}
	if len(pickles) == 0 {
		f.problem(name, 0, "", "it has no scenario with steps")
	}
}

// checkShape bounds a feature before its scenarios are made of it, and finds the lines of
// its scenarios and steps, and the rows of its outlines.
func (f *Folder) checkShape(name string, document *messages.GherkinDocument) (lines map[string]int, rows map[string]row, ok bool) {
	lines, rows, ok = map[string]int{}, map[string]row{}, true
	if document.Feature == nil {
		f.problem(name, 0, "", "it is empty")
		return nil, nil, false
	}
	total := 0
	note := func(steps []*messages.Step) {
		for _, step := range steps {
			lines[step.Id] = int(step.Location.Line)
		}
	}
	scenario := func(s *messages.Scenario, before int) {
		lines[s.Id] = int(s.Location.Line)
		note(s.Steps)
		times := 1
		for _, wrong := range wrongPlaceholders(s) {
			f.problem(name, wrong.line, "", "%s", wrong.text)
		}
		if len(s.Examples) > 0 {
			its := rowsOf(s)
			maps.Copy(rows, its)
			if times = len(its); times == 0 {
				f.problem(name, int(s.Location.Line), "", "the Examples of %q have no row below their names", s.Name)
			}
		}
		total += times * (before + len(s.Steps))
	}
	before := 0
	for _, child := range document.Feature.Children {
		switch {
		case child.Background != nil:
			note(child.Background.Steps)
			before = len(child.Background.Steps)
		case child.Scenario != nil:
			scenario(child.Scenario, before)
		case child.Rule != nil:
			own := before
			for _, child := range child.Rule.Children {
				if child.Background != nil {
					note(child.Background.Steps)
					own += len(child.Background.Steps)
				} else if child.Scenario != nil {
					scenario(child.Scenario, own)
				}
			}
		}
	}
	if total > maxSteps {
		f.problem(name, 0, "", "its scenarios have %d steps, more than %d", total, maxSteps)
		ok = false
	}
	return lines, rows, ok
}

var noSlug = regexp.MustCompile(`[^a-z0-9]+`)

// slug is a text as part of an ID.
func slug(text string) string {
	if s := strings.Trim(noSlug.ReplaceAllString(strings.ToLower(text), "-"), "-"); s != "" {
		return s
	}
	return "scenario"
}

// readBeside reads the file that a step names.
func (f *Folder) readBeside(fsys fs.FS, feature, file string, line int) {
	name := path.Join(path.Dir(feature), file)
	if file == "" || path.IsAbs(file) || !fs.ValidPath(name) {
		f.problem(feature, line, "", "the file %q is not in the folder; name one beside the feature", file)
		return
	}
	if _, read := f.beside[name]; read {
		return
	}
	if len(f.beside) == maxFiles {
		f.problem(feature, line, "", "the features name more than %d files", maxFiles)
		return
	}
	text, err := readSmall(fsys, name)
	if err != nil {
		f.problem(feature, line, "", "the file %q: %v", file, err)
		return
	}
	f.beside[name] = text
}
