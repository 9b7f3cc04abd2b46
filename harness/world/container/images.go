package container

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"nodestorm/harness/world/process"
	"nodestorm/sim/oneline"
)

// imageName is what Docker calls an image that it got from us. Others may be the same image.
func imageName(id string) string { return "nodestorm/target:" + strings.TrimPrefix(id, "sha256:") }

// kept is a note of an image that Docker got from us, for as long as a target needs it.
type kept struct {
	Docker string `json:"docker"` // where it answers
	Image  string `json:"image"`
	Target string `json:"target"` // the folder of the build
}

// notes is the folder of such notes.
func notes() (string, error) {
	state, err := process.State()
	return filepath.Join(state, "images"), err
}

// noteImage notes that a target needs an image of the Docker that answers there. Without a home nothing sweeps it.
func noteImage(docker, image, of string) error {
	folder, err := notes()
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	note, err := json.Marshal(kept{Docker: docker, Image: image, Target: of})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(note)
	return errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, hex.EncodeToString(sum[:8])), note, 0o600))
}

// unneeded are the notes of targets that are gone, by their files, and the images that others
// still need.
func unneeded() (left map[string]kept, needed map[string]bool) {
	folder, err := notes()
	if err != nil {
		return nil, nil // without a home there are none
	}
	left, needed = map[string]kept{}, map[string]bool{}
	entries, _ := os.ReadDir(folder) // none is there
	for _, entry := range entries {
		file := filepath.Join(folder, entry.Name())
		text, err := os.ReadFile(file)
		var note kept
		// mutant: images of others are taken for ours
		if err != nil || json.Unmarshal(text, &note) != nil || !strings.HasPrefix(note.Image, imageName("")) {
			continue // not ours
		}
		if _, err := os.Stat(note.Target); errors.Is(err, os.ErrNotExist) {
			left[file] = note
		} else {
			// mutant: an image that another target needs is removed
			needed[note.Docker+" "+note.Image] = true
		}
	}
	return left, needed
}

// SweepImages removes the images that Docker got from us and that no target needs any more, and
// returns their names. Without such it asks nothing of Docker; those of another Docker stay
// until that is the one in use.
func SweepImages(ctx context.Context) (removed []string, err error) {
	left, needed := unneeded()
	if len(left) == 0 {
		return nil, nil
	}
	docker, err := connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("images of targets that were removed are still in Docker, and %w; nodestorm clean removes them then", err)
	}
	for file, note := range left {
		if note.Docker != docker.Client().DaemonHost() {
			continue
		}
		if !needed[note.Docker+" "+note.Image] {
			switch _, e := docker.Client().ImageRemove(ctx, note.Image, client.ImageRemoveOptions{PruneChildren: true}); {
			case e == nil:
				removed = append(removed, note.Image)
			case !errdefs.IsNotFound(e):
				err = errors.Join(err, fmt.Errorf("removing image %.30s: %s; nodestorm clean does once nothing runs it", note.Image,
					oneline.Of(e.Error())))
				continue
			}
		}
		err = errors.Join(err, os.Remove(file))
	}
	return removed, err
}
