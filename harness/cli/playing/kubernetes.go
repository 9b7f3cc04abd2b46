package playing

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay"
)

// CheckKubernetes finds out what --kubernetes names, and what is wrong with it, before anything
// is built. A path has a slash, or is a folder that is there.
func (s *Session) CheckKubernetes(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("--kubernetes %s: %w", s.KubernetesName, err)
		}
	}()
	if s.KubernetesName == "" {
		return nil
	}
	if info, err := os.Stat(s.KubernetesName); strings.ContainsRune(s.KubernetesName, filepath.Separator) || err == nil && info.IsDir() {
		if s.ControlPlane, err = replay.OfFolder(ctx, s.KubernetesName); err != nil {
			return err
		}
		if missing := s.ControlPlane.Missing(); len(missing) > 0 && s.Serving == nil {
			s.Say("%s has no %s: those of %s take their place", s.KubernetesName, strings.Join(missing, " and no "), builds.Kubernetes)
		}
		return nil
	}
	ref, err := builds.ParseRef(builds.Kubernetes.Name + "@" + s.KubernetesName)
	if err != nil {
		return fmt.Errorf("want a release such as %s, or a folder with etcd and kube-apiserver", builds.Kubernetes.Version)
	}
	if ref != builds.Kubernetes {
		s.Release = ref
	}
	_, err = buildstore.Known(ref)
	return err
}
