package sentences

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/cucumber/messages/go/v21"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"nodestorm/harness/run/then"
	"nodestorm/harness/world/objects"
	"nodestorm/scenarios"
)

// reader follows the steps of a scenario, and finds what is wrong with what they quote or
// take from a file: what a world would refuse, as far as that can be told without one.
type reader struct {
	beside                fs.FS
	karpenter, clusterAPI bool // what brings kinds of its own
	defined               map[schema.GroupKind]bool
	awaited, started      bool // a record was waited for; the target runs
}

var (
	// onceAtEnd are an action, the record it waits for, and a colon if something is quoted.
	onceAtEnd   = regexp.MustCompile(`^(?:(.*)` + onceWords + `)?(?:` + recordWords + `(:?)|` + thisRecorded + `:)$`)
	statesThis  = regexp.MustCompile(`^this holds\b`)
	putsObjects = regexp.MustCompile(`^these objects( with their status)?( from the file "[^"]+")?( are (created|applied))?:?$`)
	onObject    = regexp.MustCompile(`^` + object + ` is (deleted|evicted|drained|patched|scaled|labelled|annotated)(?: "([^"]+)")?`)
)

func (r *reader) check(step *messages.PickleStep) error {
	text := step.Text
	if step.Type == messages.PickleStepType_OUTCOME {
		return r.checkThen(step)
	}
	switch {
	case strings.HasPrefix(text, "Karpenter"):
		r.karpenter, r.started = true, true
	case strings.HasPrefix(text, "Cluster Autoscaler"):
		r.started = true
	case text == testedClusterAPI:
		r.clusterAPI, r.started = true, true
	case namesRelease.MatchString(text):
		r.clusterAPI = true
	case strings.HasPrefix(text, "its machine is initialized"):
		r.awaited = true
	}
	if m := onceAtEnd.FindStringSubmatch(text); m != nil {
		if err := r.checkAwaited(step, m[2]); err != nil {
			return err
		}
		r.awaited = true
		text = m[1] + m[3]
	}
	if m := onObject.FindStringSubmatch(text); m != nil {
		return r.checkChange(step, m[1], m[2], m[3])
	}
	switch {
	case putsObjects.MatchString(text):
		return r.checkObjects(step)
	case listsFaults.MatchString(text):
		return r.checkFaults(step)
	case strings.HasSuffix(text, flagsWords), strings.HasSuffix(text, unlistedWords):
		_, err := flagsOf(step)
		return err
	case text == typesWords:
		_, err := typesOf(tableOf(step))
		return err
	case text == nodesWords:
		_, err := nodesOf(tableOf(step))
		return err
	case text == groupsWords:
		_, err := groupsOf(tableOf(step))
		return err
	// mutant: the target can be killed before it runs
	case strings.HasPrefix(text, "the target is ") && !r.started:
		return errNoTarget
	case strings.HasPrefix(text, servesWords) && !groupVersion.MatchString(strings.Trim(strings.TrimPrefix(text, servesWords), `"`)):
		return fmt.Errorf("%s is no version of an API group, such as resource.k8s.io/v1beta1", strings.TrimPrefix(text, servesWords))
	case text == environmentWords && r.started:
		return errors.New("the target runs already: say it before")
	case text == environmentWords:
		_, err := environmentOf(step)
		return err
	}
	if err := r.checkFault(text); err != nil {
		return err
	}
	return checkUserData(step)
}

// checkThen checks that what a Then says can be observed, and could be otherwise.
func (r *reader) checkThen(step *messages.PickleStep) error {
	said := ""
	if statesThis.MatchString(step.Text) {
		text, err := r.text(step)
		if err != nil {
			return err
		}
		if said = string(text); strings.TrimSpace(said) == "" {
			return errors.New("the statement: the text is empty")
		}
	}
	_, _, err := then.Find(step.Text, said)
	return err
}

// checkAwaited checks a record that is waited for, in words or else in YAML.
func (r *reader) checkAwaited(step *messages.PickleStep, words string) error {
	if words != "" {
		_, err := then.InWords(words)
		return err
	}
	// mutant: the file of an action is read as the record it waits for
	text, err := docString(step) // a file that the step names is the action's
	if err != nil {
		return err
	}
	_, err = then.InYAML(text)
	return err
}

// text is what a step quotes, or the file that it names.
func (r *reader) text(step *messages.PickleStep) ([]byte, error) {
	if file, is := scenarios.FileOf(step.Text); is {
		return readBeside(r.beside, file)
	}
	text, err := docString(step)
	return []byte(text), err
}

func docString(step *messages.PickleStep) (string, error) {
	if step.Argument == nil || step.Argument.DocString == nil {
		return "", errors.New(`want the text below the step, between lines of """`)
	}
	return step.Argument.DocString.Content, nil
}

func (r *reader) checkFaults(step *messages.PickleStep) error {
	text, err := r.text(step)
	if err != nil {
		return err
	}
	if _, err := parseFaults(text); err != nil {
		return fmt.Errorf("its faults: %w", err)
	}
	return nil
}

func (r *reader) checkObjects(step *messages.PickleStep) error {
	text, err := r.text(step)
	if err != nil {
		return err
	}
	all, err := objects.Read(text)
	if err != nil {
		return err
	}
	for _, o := range all {
		if of, is := o.Defines(); is {
			if r.defined == nil {
				r.defined = map[schema.GroupKind]bool{}
			}
			r.defined[of] = true
		}
	}
	for _, o := range all {
		if err := o.Check(); err != nil {
			return err
		}
		if err := r.has(o.GroupVersionKind()); err != nil {
			return fmt.Errorf("document %d: %w", o.Document, err)
		}
	}
	return nil
}

// has tells whether the world has a kind when the step begins.
func (r *reader) has(gvk schema.GroupVersionKind) error {
	missing := ""
	switch {
	case objects.OwnGroup(gvk.Group), r.defined[gvk.GroupKind()]:
	case strings.HasPrefix(gvk.Group, "karpenter.k8s."):
		return fmt.Errorf("the cloud of the world's Karpenter is kwok: want kind KWOKNodeClass of karpenter.kwok.sh/v1alpha1 in place of %s of %s", gvk.Kind, gvk.GroupVersion())
	case gvk.Group == "autoscaling.x-k8s.io" && r.karpenter: // CapacityBuffers, of releases that have them
	case gvk.Group == "karpenter.sh" || strings.HasPrefix(gvk.Group, "karpenter."):
		if !r.karpenter {
			missing = `say "Given Karpenter" before`
		}
	case strings.HasSuffix(gvk.Group, clusterAPIGroups):
		if !r.clusterAPI {
			missing = `say "Given Cluster API v1.9.5" before`
		}
	default:
		missing = "put its CustomResourceDefinition before it"
	}
	if missing == "" {
		return nil
	}
	return fmt.Errorf("there is no kind %s of %s yet: %s", gvk.Kind, gvk.GroupVersion(), missing)
}

// checkFilled finds what stands for a record's field where no record was waited for.
func (r *reader) checkFilled(text string) error {
	// mutant: $name may stand for nothing
	if field := ofAwaited.FindString(text); field != "" && !r.awaited {
		return fmt.Errorf("%s stands for the name in a record that was waited for, and nothing is: say %q before, or after the action", field, "once …")
	}
	return nil
}

// checkFault finds what is wrong with a sentence, if it is one about a fault.
func (r *reader) checkFault(text string) error {
	for _, sentence := range faultSentences() {
		groups := sentence.pattern.FindStringSubmatch(text)
		if groups == nil {
			continue
		}
		if err := r.checkFilled(text); err != nil {
			return err
		}
		if _, err := sentence.read(text, groups[1:]); err != nil {
			return fmt.Errorf("its fault: %w", err)
		}
	}
	return nil
}

// checkChange checks what is done to an object.
func (r *reader) checkChange(step *messages.PickleStep, ref, does, argument string) error {
	if err := r.checkFilled(ref); err != nil {
		return err
	}
	of, err := objects.ParseRef(ref)
	if err != nil {
		return err
	}
	// Kinds in lower case may be one of the short names that only the server knows.
	if kind, _, _ := strings.Cut(of.Kind, "."); kind == of.Kind && kind != strings.ToLower(kind) && !r.karpenter && !r.clusterAPI && len(r.defined) == 0 && !objects.OwnKind(kind) {
		return fmt.Errorf("unknown kind %s: Kubernetes has none%s", kind, objects.LikeKind(kind))
	}
	switch does {
	case "labelled":
		_, err = objects.ParseMark(objects.Labels, argument)
	case "annotated":
		_, err = objects.ParseMark(objects.Annotations, argument)
	case "patched":
		var text []byte
		if text, err = r.text(step); err == nil {
			_, err = objects.ReadPatch(text)
		}
	}
	return err
}
