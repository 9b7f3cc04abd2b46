package scenarios

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// inMemory is a file system that does not change.
func inMemory(files map[string][]byte) fs.FS {
	var buffer bytes.Buffer
	w := zip.NewWriter(&buffer)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			_, err = file.Write(files[name])
		}
		if err != nil {
			panic(fmt.Sprintf("keeping the feature %s in memory: %v", name, err)) // a buffer takes all
		}
	}
	if err := w.Close(); err != nil {
		panic(fmt.Sprintf("keeping the features in memory: %v", err))
	}
	r, err := zip.NewReader(bytes.NewReader(buffer.Bytes()), int64(buffer.Len()))
	if err != nil {
		panic(fmt.Sprintf("keeping the features in memory: %v", err))
	}
	return r
}

// FeatureFS is the features' root as godog is to have it: it finds an outline by its line,
// and plays all rows that it has then.
func (r *Record) FeatureFS(features fs.FS) (fs.FS, error) {
	// mutant: a row of an outline is played with the others
	if len(r.otherRows) == 0 {
		return features, nil
	}
	text, err := fs.ReadFile(features, r.Feature)
	if err != nil {
		return nil, err
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for _, line := range r.otherRows {
		if line <= len(lines) {
			lines[line-1] = append([]byte("#"), lines[line-1]...)
		}
	}
	return oneChanged{features, r.Feature, inMemory(map[string][]byte{r.Feature: bytes.Join(lines, nil)})}, nil
}

// oneChanged has another text of one file.
type oneChanged struct {
	fs.FS
	name    string
	changed fs.FS
}

func (o oneChanged) Open(name string) (fs.File, error) {
	if name == o.name {
		return o.changed.Open(name)
	}
	return o.FS.Open(name)
}
