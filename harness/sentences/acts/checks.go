package acts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"nodestorm/harness/program/deploy"
	"nodestorm/harness/program/programs"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/harness/world/objects"
	"nodestorm/sim/machine/cri"
	"nodestorm/sim/machine/node"
)

func checkObjects(f *scene.Feature, a words.Args) error {
	return eachChecked(f, a, objects.Object.Check)
}

// checkAsked leaves the values of fields to the API server.
func checkAsked(f *scene.Feature, a words.Args) error {
	return eachChecked(f, a, objects.Object.CheckNames)
}

func eachChecked(f *scene.Feature, a words.Args, check func(objects.Object) error) error {
	all, err := objects.Read([]byte(a.Quoted))
	if err != nil {
		return err
	}
	for _, o := range all {
		if of, is := o.Defines(); is {
			if f.Defined == nil {
				f.Defined = map[schema.GroupKind]bool{}
			}
			f.Defined[of] = true
		}
	}
	for _, o := range all {
		if err := check(o); err != nil {
			return err
		}
		if err := hasKind(f, o.GroupVersionKind()); err != nil {
			return fmt.Errorf("document %d: %w", o.Document, err)
		}
		if err := checkBehaviour(o.Object); err != nil {
			return fmt.Errorf("document %d: %s: %w", o.Document, o, err)
		}
	}
	return nil
}

// behaviours are the annotations by which a pod says how its containers behave.
var behaviours = []string{node.RunForAnnotation, node.StopAfterAnnotation, cri.ServeAfterAnnotation}

// checkBehaviour finds annotations of ours, at any depth of an object, which nothing would go by.
func checkBehaviour(in any) error {
	switch in := in.(type) {
	case []any:
		for _, item := range in {
			if err := checkBehaviour(item); err != nil {
				return err
			}
		}
	case map[string]any:
		for field, value := range in {
			if strings.HasPrefix(field, "nodestorm.sim/") && !slices.Contains(behaviours, field) {
				return fmt.Errorf("annotation %s: there is %s", field, strings.Join(behaviours, ", "))
			}
			// mutant: a pod behaves as no duration says
			if text, err := time.ParseDuration(fmt.Sprint(value)); slices.Contains(behaviours, field) && (err != nil || text < 0) {
				return fmt.Errorf("annotation %s: %v is no duration such as 90s", field, value)
			}
			if err := checkBehaviour(value); err != nil {
				return err
			}
		}
	}
	return nil
}

// hasKind finds out whether the world has a kind when the step begins.
func hasKind(f *scene.Feature, gvk schema.GroupVersionKind) error {
	if objects.OwnGroup(gvk.Group) || f.Defined[gvk.GroupKind()] {
		return nil
	}
	for _, k := range programs.All {
		if k.Objects == nil {
			continue
		}
		if its, err := k.Objects(gvk, f.Runs[k.Name]); its {
			return err
		}
	}
	return deploy.NoKind(gvk, "put its CustomResourceDefinition before it")
}

// checkObject checks the object of a sentence, and then what is done to it.
func checkObject(then func(words.Args) error) func(*scene.Feature, words.Args) error {
	return func(f *scene.Feature, a words.Args) error {
		if err := f.CheckFilled(a.Text(0)); err != nil {
			return err
		}
		of, err := objects.ParseRef(a.Text(0))
		if err != nil {
			return err
		}
		// Kinds in lower case may be one of the short names that only the server knows.
		kind, _, _ := strings.Cut(of.Kind, ".")
		if kind == of.Kind && kind != strings.ToLower(kind) && len(f.Runs) == 0 && len(f.Defined) == 0 && !objects.OwnKind(kind) {
			return fmt.Errorf("unknown kind %s: Kubernetes has none%s", kind, objects.LikeKind(kind))
		}
		if then == nil {
			return nil
		}
		return then(a)
	}
}

func checkPatch(a words.Args) error {
	_, err := objects.ReadPatch([]byte(a.Quoted))
	return err
}

func checkMark(field string) func(words.Args) error {
	return func(a words.Args) error {
		_, err := objects.ParseMark(field, a.Text(1))
		return err
	}
}
