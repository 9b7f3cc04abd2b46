package replay

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"nodestorm/harness/sentences/requirements"
	"nodestorm/harness/sentences/validation"
	"nodestorm/scenarios"
	"nodestorm/scenarios/folder"
)

// ReadFolder is folder.Read with what is wrong with the steps too.
func ReadFolder(name string) *folder.Folder {
	f := folder.Read(name)
	files := f.Files()
	for i, s := range f.Scenarios {
		if s.Record.Bare() {
			f.Scenarios[i].Record.System = requirements.System(s.Pickle())
		}
		for _, wrong := range validation.Problems(s.Pickle(), featureFolder(files, s.Record)) {
			if errors.Is(wrong.Err, fs.ErrNotExist) {
				continue // why there is no such file, the folder says
			}
			f.Problems = append(f.Problems, scenarios.Problem{File: s.File, Line: s.Steps[wrong.Step].Line, Text: wrong.Err.Error()})
		}
	}
	for _, feature := range f.Features {
		misread := validation.Keywords(string(feature.Text))
		if len(misread) > 0 && feature.Shown != "" { // what is wrong with its other steps mostly follows from that
			f.Problems = slices.DeleteFunc(f.Problems, func(p scenarios.Problem) bool { return p.File == feature.Shown })
		}
		for _, m := range misread {
			f.Problems = append(f.Problems, scenarios.Problem{File: feature.Shown, Line: m.Line, Text: m.Err.Error()})
		}
	}
	f.Problems.Sort()
	f.Problems = slices.Compact(f.Problems) // rows of an outline have steps in common
	return f
}

// featureFolder is the folder of a record's feature.
func featureFolder(features fs.FS, r scenarios.Record) fs.FS {
	dir, err := fs.Sub(features, path.Dir(r.Feature))
	if err != nil {
		return nil // the feature is nowhere either, and that is reported
	}
	return dir
}
