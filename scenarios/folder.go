package scenarios

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	gherkin "github.com/cucumber/gherkin/go/v26"
	messages "github.com/cucumber/messages/go/v21"
	"go.yaml.in/yaml/v3"

	"nodestorm/sim/history/checker"
	"nodestorm/sim/oneline"
	"nodestorm/sim/strict"
)

// What a folder may hold that anybody may have written.
const (
	maxFileSize = 1 << 20
	maxFiles    = 2000     // features and records
	maxEntries  = 50_000   // of any kind
	maxHead     = 64 << 10 // of a large file, to see whether it is a record
	maxSteps    = 10_000   // of a feature
)

// Problem is something wrong with a catalogue, at a place.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	// Field is that of a record, as in symptom.sequence[0].match; empty elsewhere.
	Field string `json:"field,omitempty"`
	Text  string `json:"text"`
}

func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// Problems are an error of a line each.
type Problems []Problem

// mostProblems are told at once.
const mostProblems = 100

func (p Problems) Error() string {
	var lines []string
	for _, problem := range p[:min(len(p), mostProblems)] {
		lines = append(lines, oneline.Of(problem.String()))
	}
	if more := len(p) - mostProblems; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// Sort orders problems by their places.
func (p Problems) Sort() {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
}

// Scenario is one of a feature of a user's own.
type Scenario struct {
	// Record is its own, or stands for one.
	Record Record
	Name   string
	Tags   []string // with their @
	File   string   // as the user calls it
	Line   int
	Steps  []Step

	isRow bool     // of an outline
	files []string // that it is made of, in its folder: the feature, what its steps name, its record
}

// Step is a step and where it is.
type Step struct {
	*messages.PickleStep
	Line int
}

// Pickle are the steps as godog has them.
func (s Scenario) Pickle() (list []*messages.PickleStep) {
	for _, step := range s.Steps {
		list = append(list, step.PickleStep)
	}
	return list
}

// Folder is a catalogue of a user's own: records, and features beside or below them.
type Folder struct {
	Scenarios []Scenario
	Problems  Problems
	// Others is how many YAML files are neither records nor named by a step.
	Others int

	shown    string // what the user calls it
	mount    string // what its features are below
	features map[string][]byte
	beside   map[string][]byte // files that steps name
	byFile   map[string][]int  // of Scenarios, by the feature's path
	records  []placed
	texts    map[string][]byte // of records, by their paths
	// invariants are those of all scenarios.
	invariants []checker.Statement
}

// placed is a record and where it is.
type placed struct {
	Record
	path string // in the folder
	node *yaml.Node
	at   string // what its fields begin with, of a twin
}

// locate finds the field that the text about the record begins with, and its line.
func (r placed) locate(text string) (field string, line int) { return locate(r.node, r.at+text) }

// ReadFolder reads what is in a folder, or one feature. Whatever is wrong is in its
// Problems. Nothing in it is trusted: neither sizes nor numbers nor links.
func ReadFolder(name string) *Folder {
	f := &Folder{shown: name, features: map[string][]byte{}, beside: map[string][]byte{}, byFile: map[string][]int{}, texts: map[string][]byte{}}
	dir, only := name, ""
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.problem(".", 0, "", "it is not there; name a folder with features and records, or a feature")
		return f
	case err != nil:
		f.problem(".", 0, "", "%v", withoutPath(err))
		return f
	case !info.IsDir():
		if !strings.HasSuffix(name, featureSuffix) {
			f.problem(".", 0, "", "it is neither a folder nor called NAME%s", featureSuffix)
			return f
		}
		dir, only = filepath.Dir(name), filepath.Base(name)
		f.shown = dir
	}
	f.mount = "own"
	if abs, err := filepath.Abs(dir); err == nil && fs.ValidPath(filepath.Base(abs)) && filepath.Base(abs) != "." {
		f.mount = filepath.Base(abs)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		f.problem(".", 0, "", "%v", withoutPath(err))
		return f
	}
	defer root.Close()
	fsys := root.FS()
	names := []string{only}
	if only == "" {
		names = f.list(fsys)
	} else if _, err := fs.Stat(fsys, InvariantsFile); err == nil {
		names = append(names, InvariantsFile)
	}
	slices.SortStableFunc(names, func(a, b string) int { return kindOf(a) - kindOf(b) })
	for _, name := range names {
		if len(f.features)+len(f.records) >= maxFiles {
			f.problem(".", 0, "", "it has more than %d features and records", maxFiles)
			break
		}
		f.read(fsys, name)
	}
	f.join()
	f.hold()
	return f
}

const featureSuffix = ".feature"

// problem notes what is wrong with a file of the folder.
func (f *Folder) problem(name string, line int, field, format string, args ...any) {
	f.Problems = append(f.Problems, Problem{f.file(name), line, field, fmt.Sprintf(format, args...)})
}

// file is what the user calls a path of the folder.
func (f *Folder) file(name string) string { return filepath.Join(f.shown, filepath.FromSlash(name)) }

// withoutPath is an error of a system call without the path, which is said elsewhere.
func withoutPath(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return errors.New("permission denied; let it be read, or name another folder")
	}
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return at.Err
	}
	return err
}

// list finds the features and the files that may be records.
func (f *Folder) list(fsys fs.FS) (names []string) {
	entries := 0
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			f.problem(name, 0, "", "%v", withoutPath(err))
			return nil
		}
		if entries++; entries > maxEntries {
			return fmt.Errorf("it has more than %d files; name a folder that has features and records only", maxEntries)
		}
		if name != "." && strings.HasPrefix(entry.Name(), ".") {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if entry.IsDir() || !slices.Contains([]string{featureSuffix, ".yaml", ".yml"}, path.Ext(name)) {
			return nil
		}
		names = append(names, name)
		return nil
	})
	if err != nil {
		f.problem(".", 0, "", "%v", withoutPath(err))
	}
	if err == nil && len(names) == 0 && len(f.Problems) == 0 {
		f.problem(".", 0, "", "it has no feature; make one with nodestorm new ID --dir %s", f.shown)
	}
	return names
}

// kindOf has features before what may be records: they name files that are none.
func kindOf(name string) int {
	if strings.HasSuffix(name, featureSuffix) {
		return 0
	}
	return 1
}

// read reads a feature or a record.
func (f *Folder) read(fsys fs.FS, name string) {
	if _, named := f.beside[name]; named {
		return
	}
	text, err := readSmall(fsys, name)
	isFeature := strings.HasSuffix(name, featureSuffix)
	switch {
	case !isFeature && name != InvariantsFile && (err == nil || errors.Is(err, errLarge)) && !f.isRecord(name, text):
		f.Others++
	case err != nil:
		f.problem(name, 0, "", "%v", err)
	case isFeature:
		f.readFeature(fsys, name, text)
	case name == InvariantsFile:
		f.readInvariants(name, text)
	default:
		f.readRecord(name, text)
	}
}

// isRecord tells a record, or what is meant as one, from other YAML that a folder has: it
// has two of the fields that nothing else has together, or the name of a feature.
func (f *Folder) isRecord(name string, text []byte) bool {
	if isObject.Match(text) {
		return false
	}
	fields := map[string]bool{}
	for _, m := range recordField.FindAllSubmatch(text, -1) {
		fields[string(m[1])] = true
	}
	_, beside := f.features[strings.TrimSuffix(name, path.Ext(name))+featureSuffix]
	return beside || len(fields) > 1
}

var (
	// isObject finds what is meant for Kubernetes, such as a manifest beside a feature.
	isObject    = regexp.MustCompile(`(?m)^apiVersion:`)
	recordField = regexp.MustCompile(`(?m)^(feature|autoscaler|affected|fixed|mechanism|trigger|work|symptom|kin|targets):`)
)

var errLarge = fmt.Errorf("it has more than %d MiB", maxFileSize>>20)

// readSmall reads a regular file that is not large, or the head of one that is.
func readSmall(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil && strings.Contains(err.Error(), "escapes"): // os.Root has no value for it
		return nil, errors.New("it is a link that leads out of the folder")
	case err != nil:
		return nil, withoutPath(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no file")
	}
	file, err := fsys.Open(name)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer file.Close()
	if info.Size() <= maxFileSize {
		return io.ReadAll(io.LimitReader(file, maxFileSize))
	}
	head, err := io.ReadAll(io.LimitReader(file, maxHead))
	return head, cmp.Or(err, errLarge)
}

// atLine is where the parsers of Gherkin and YAML say that something is.
var atLine = regexp.MustCompile(`\((\d+):\d+\)|line (\d+)`)

func lineIn(text string) int {
	m := atLine.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	line, _ := strconv.Atoi(m[1] + m[2]) // one of them is empty
	return line
}

// fromFile is how a step names a file beside its feature.
var fromFile = regexp.MustCompile(`\bfrom the file "([^"]*)"`)

// FileOf is the file beside the feature that a step's text names.
func FileOf(step string) (name string, ok bool) {
	m := fromFile.FindStringSubmatch(step)
	if m == nil {
		return "", false
	}
	return m[1], true
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

// Files are the features, and the files that their steps name, by the paths that the
// scenarios have.
func (f *Folder) Files() fs.FS {
	files := map[string][]byte{}
	for _, of := range []map[string][]byte{f.features, f.beside} {
		for name, text := range of {
			files[path.Join(f.mount, name)] = text
		}
	}
	return inMemory(files)
}

func (f *Folder) readFeature(fsys fs.FS, name string, text []byte) {
	ids := &messages.Incrementing{}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // Windows' editors write it
	document, err := parseFeature(text, ids.NewId)
	if err != nil {
		f.problem(name, lineIn(err.Error()), "", "%v", err)
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
		s := Scenario{Name: pickle.Name, File: f.file(name), Line: line, files: []string{name}}
		row, isRow := rows[pickle.AstNodeIds[len(pickle.AstNodeIds)-1]]
		if isRow {
			s.Line, s.isRow = row.line, true
		}
		hasThen := false
		for _, tag := range pickle.Tags {
			s.Tags = append(s.Tags, tag.Name)
		}
		for _, step := range pickle.Steps {
			hasThen = hasThen || step.Type == messages.PickleStepType_OUTCOME
			s.Steps = append(s.Steps, Step{step, lines[step.AstNodeIds[0]]})
			if file, is := FileOf(step.Text); is {
				f.readBeside(fsys, name, file, lines[step.AstNodeIds[0]])
				s.files = append(s.files, path.Join(path.Dir(name), file))
			}
		}
		if !hasThen {
			f.problem(name, s.Line, "", "the scenario %q has no Then: say what ought to hold, or else nothing is put to the test", s.Name)
		}
		id := base
		if len(pickles) > 1 {
			id += "-" + slug(s.Name)
		}
		s.Record = Unrecorded(strings.Trim(id[:min(len(id), 80)], "-"), "")
		s.Record.Title, s.Record.Feature, s.Record.line = s.Name, path.Join(f.mount, name), line
		s.Record.otherRows = row.others
		f.byFile[name] = append(f.byFile[name], len(f.Scenarios))
		f.Scenarios = append(f.Scenarios, s)
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

// decode reads a file of YAML strictly. What is wrong with its fields is returned; of one
// that is no YAML the node is nil, and the problem noted.
func (f *Folder) decode(name string, text []byte, into any) (node *yaml.Node, wrong []error) {
	err := strict.Unmarshal(text, into)
	if all := (strict.Problems)(nil); errors.As(err, &all) {
		for _, problem := range all {
			wrong = append(wrong, errors.New(problem))
		}
	} else if err != nil {
		f.problem(name, lineIn(err.Error()), "", "%v", err)
		return nil, nil
	}
	node = &yaml.Node{}
	if err := yaml.Unmarshal(text, node); err != nil {
		f.problem(name, lineIn(err.Error()), "", "%v", err)
		return nil, nil
	}
	return node, wrong
}

// misplaced notes what is wrong with fields of a file, where they are.
func (f *Folder) misplaced(name string, node *yaml.Node, wrong []error) {
	for _, err := range wrong {
		field, line := locate(node, err.Error())
		f.problem(name, line, field, "%v", err)
	}
}

func (f *Folder) readRecord(name string, text []byte) {
	var file written
	node, wrong := f.decode(name, text, &file)
	if node == nil {
		return
	}
	releases, err := ReadReleases(builtinReleases)
	if err != nil {
		f.problem(name, 0, "", "%v", err)
		return
	}
	list, more := file.records(releases, true)
	f.misplaced(name, node, append(wrong, more...))
	for i, r := range list {
		f.records = append(f.records, placed{r, name, node, place(i)})
	}
	f.texts[name] = text
}

var (
	fieldWord = regexp.MustCompile(`^([A-Za-z][\w-]*)((?:\[\d+\])*)(\.|: )?`)
	unknown   = regexp.MustCompile(`^(?:unknown|duplicate) field "([^"]+)"`)
)

// locate finds the field that the text about a record begins with, and its line.
func locate(document *yaml.Node, text string) (field string, line int) {
	if m := unknown.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	if len(document.Content) == 0 {
		return "", 0
	}
	node := document.Content[0]
	line = node.Line
	for {
		m := fieldWord.FindStringSubmatch(text)
		if m == nil {
			return field, line
		}
		key, value := member(node, m[1])
		if value == nil {
			if field == "" { // it is missing
				field = m[1]
			}
			return field, line
		}
		field, line, node = strings.TrimPrefix(field+"."+m[1], "."), key.Line, value
		for index := range strings.FieldsSeq(strings.NewReplacer("[", " ", "]", " ").Replace(m[2])) {
			i, err := strconv.Atoi(index)
			if err != nil || node.Kind != yaml.SequenceNode || i >= len(node.Content) {
				return field, line
			}
			node = node.Content[i]
			field, line = field+"["+index+"]", node.Line
		}
		if m[3] == "" {
			return field, line
		}
		text = text[len(m[0]):]
	}
}

// member is a field of a mapping.
func member(node *yaml.Node, name string) (key, value *yaml.Node) {
	if node.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i], node.Content[i+1]
		}
	}
	return nil, nil
}

// join gives the scenarios their records.
func (f *Folder) join() {
	where := map[string]string{} // ID → its file and line
	alone := map[string]bool{}   // IDs of records without a scenario
	take := func(id, name string, line int, field string) bool {
		if id == "" {
			return false
		}
		if other, taken := where[id]; taken {
			f.problem(name, line, field, "%s is the ID of %s too; give one of them another", id, other)
			return false
		}
		where[id] = fmt.Sprintf("%s:%d", f.file(name), line)
		return true
	}
	for _, r := range f.records {
		field, line := r.locate("id: ")
		if !take(r.ID, r.path, line, field) || r.Feature == "" {
			continue
		}
		field, line = r.locate("feature: ")
		feature := path.Join(path.Dir(r.path), r.Feature)
		found := f.byFile[feature]
		if _, there := f.features[feature]; !there {
			alone[r.ID] = true
			if !slices.ContainsFunc(f.Problems, func(p Problem) bool { return p.File == f.file(feature) }) {
				f.problem(r.path, line, field, "feature: %s is not there; name it as seen from the record, inside the catalogue", f.file(feature))
			}
			continue
		}
		tagged := 0
		for _, i := range found {
			s := &f.Scenarios[i]
			if !slices.Contains(s.Tags, "@"+r.ID) {
				continue
			}
			tagged++
			if !s.Record.Bare() {
				f.problem(feature, s.Line, "", "the scenario %q has the tags of two records, @%s and @%s", s.Name, s.Record.ID, r.ID)
				continue
			}
			if tagged > 1 {
				continue
			}
			s.Record = r.Record
			s.Record.nameTwins()
			s.Record.Feature = path.Join(f.mount, feature)
			s.files = append(s.files, r.path)
		}
		alone[r.ID] = tagged == 0
		if tagged != 1 {
			hint := ""
			if tagged > 1 && slices.ContainsFunc(found, func(i int) bool { return f.Scenarios[i].isRow }) {
				hint = "; of an outline, give each row Examples: of its own, with a tag"
			}
			f.problem(r.path, line, field, "feature: %d scenarios of %s have the tag @%s, want one%s", tagged, f.file(feature), r.ID, hint)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.byFile)) {
		for _, i := range f.byFile[name] {
			// What a record without a scenario is told of is no other problem.
			if s := f.Scenarios[i]; s.Record.Bare() && !alone[s.Record.ID] {
				take(s.Record.ID, name, s.Line, "")
			}
		}
	}
	f.Problems.Sort()
}

// Own are the files that a user's own scenario is made of, which are a catalogue of its
// own; nil if it is none.
func (c *Catalogue) Own(id string) fs.FS {
	if files := c.kept[id]; len(files) > 0 {
		return inMemory(files)
	}
	return nil
}

// together are the files of a scenario, its feature first, and of those that share its feature
// or record: without them neither could be read.
func (f *Folder) together(s Scenario) []string {
	all := slices.Clone(s.files)
	for i := 0; i < len(all); i++ {
		if _, shared := f.beside[all[i]]; shared {
			continue
		}
		for _, other := range f.Scenarios {
			if slices.Contains(other.files, all[i]) {
				all = append(all, slices.DeleteFunc(slices.Clone(other.files), func(name string) bool { return slices.Contains(all, name) })...)
			}
		}
	}
	return all
}

// keep notes the files of a scenario, by their paths below the folder that has them all.
func (c *Catalogue) keep(f *Folder, s Scenario) {
	if c.kept == nil {
		c.kept = map[string]map[string][]byte{}
	}
	all := f.together(s)
	above := path.Dir(all[0])
	for _, name := range all {
		for above != "." && !strings.HasPrefix(name, above+"/") {
			above = path.Dir(above)
		}
	}
	files := map[string][]byte{}
	for _, name := range all {
		for _, of := range []map[string][]byte{f.features, f.beside, f.texts} {
			if text, is := of[name]; is {
				files[strings.TrimPrefix(name, above+"/")] = text
			}
		}
	}
	if text, is := f.texts[InvariantsFile]; is { // of all its scenarios
		files[InvariantsFile] = text
	}
	c.kept[s.Record.ID] = files
}

// InFile are the scenarios of a user's own feature, in its order; none if it is in no
// folder that was added.
func (c *Catalogue) InFile(name string) (found []Scenario) {
	is, err := os.Stat(name)
	if err != nil {
		return nil
	}
	for _, s := range c.own {
		if info, err := os.Stat(s.File); err == nil && os.SameFile(info, is) {
			found = append(found, s)
		}
	}
	return found
}

// Add puts what is in a folder beside what the catalogue has. Nothing of the folder is
// taken if anything is wrong with it.
func (c *Catalogue) Add(f *Folder) error {
	problems := slices.Clone(f.Problems)
	if c.places == nil {
		c.places = map[string]string{}
	}
	for i, s := range f.Scenarios {
		id, place := s.Record.ID, fmt.Sprintf("%s:%d", s.File, s.Line)
		if _, err := c.Lookup(id); err == nil {
			other := c.places[id]
			if other == "" {
				other = "a record that is built in, see --no-builtin,"
			}
			problem := Problem{File: s.File, Line: s.Line, Text: fmt.Sprintf("%s is the ID of %s too; give one of them another", id, other)}
			if !slices.Contains(problems, problem) { // in one folder that is told already
				problems = append(problems, problem)
			}
			continue
		}
		c.places[id] = place
		c.own = append(c.own, s)
		c.keep(f, s)
		if s.Record.Bare() {
			c.bare = append(c.bare, f.Scenarios[i])
		} else {
			c.records = append(c.records, s.Record)
		}
	}
	for _, r := range f.records {
		if r.at != "" { // a twin's are those of its record
			continue
		}
		for i, id := range r.Kin {
			if _, err := c.Lookup(id); err != nil {
				field, line := locate(r.node, fmt.Sprintf("kin[%d]: ", i))
				problems = append(problems, Problem{f.file(r.path), line, field, fmt.Sprintf("%s: %v", field, err)})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.features)) {
		mounted := path.Join(f.mount, name)
		if _, taken := c.features[mounted]; taken {
			problems = append(problems, Problem{File: f.file(name), Text: "another catalogue has a folder of this name; rename one of the folders"})
		}
		c.addFeature(mounted, f.features[name])
	}
	for name := range f.beside {
		c.addFeature(path.Join(f.mount, name), f.beside[name])
	}
	slices.SortFunc(c.records, func(a, b Record) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(c.bare, func(a, b Scenario) int { return strings.Compare(a.Record.ID, b.Record.ID) })
	if len(problems) > 0 {
		return problems
	}
	return nil
}
