package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"sigs.k8s.io/yaml"

	kinds "nodestorm/harness/world/objects"
	"nodestorm/sim/history"
	"nodestorm/sim/history/audit"
	"nodestorm/sim/machine/node"
)

// userCall reads a call if it is one of theirs.
func userCall(line []byte) (call auditv1.Event, is bool) {
	if !bytes.Contains(line, []byte(audit.UserGroup)) || json.Unmarshal(line, &call) != nil {
		return call, false
	}
	return call, call.ObjectRef != nil && slices.Contains(call.User.Groups, audit.UserGroup)
}

// objects is what is known of the world's objects.
type objects struct {
	kinds   map[string]string // by resource.group
	created map[maker]int
	made    map[history.Object]maker // those whose names others have made up
}

// maker is who has created something of a resource, and the how many-eth of theirs it is.
type maker struct {
	actor, resource string
	number          int
}

// waitForCreation waits for it to be created, for $name to stand for its name.
func (m maker) waitForCreation() string {
	once := fmt.Sprintf(` once %q has ever sent "create" of %q`, m.actor, m.resource)
	if m.number > 1 {
		once += fmt.Sprintf(" %d times", m.number)
	}
	return once
}

func newObjects() objects {
	return objects{map[string]string{}, map[maker]int{}, map[history.Object]maker{}}
}

// madeUp ends names that the API server or a controller has made up: they are others in
// every world. See k8s.io/apimachinery/pkg/util/rand, alphanums.
var madeUp = regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5}$`)

// see notes who creates what. byUser: a user made the call, not a program.
func (o objects) see(r history.Event, byUser bool) {
	if r.Verb != "create" || r.Code >= 400 || r.Detail["subresource"] != nil {
		return
	}
	by := maker{actor: r.Actor, resource: r.Object.Resource}
	o.created[by]++
	by.number = o.created[by]
	delete(o.made, r.Object)
	ofCloud := r.Object.Resource == "nodes" && r.Actor != node.Actor
	if !byUser && (ofCloud || madeUp.MatchString(r.Object.Name)) {
		o.made[r.Object] = by
	}
}

// action is what a step says that does the same; nothing if there is nothing to do.
func (o objects) action(call auditv1.Event, r history.Event) action {
	asked, _ := fields(call.RequestObject)
	got, _ := fields(call.ResponseObject)
	o.learn(call, asked, got)
	part, verb := call.ObjectRef.Subresource, call.Verb // an apply is a patch here, also one that creates
	what := fmt.Sprintf("%s %s", verb, r.Object)
	if part != "" {
		what += " (" + part + ")"
	}
	uri, _ := url.ParseRequestURI(call.RequestURI)
	switch {
	case uri != nil && uri.Query().Has("dryRun"):
		return action{}
	case r.Code >= 400:
		return commentAction("Here the API server refused to %s with %d.", what, r.Code)
	case r.Object.Resource == "secrets" && part == "" && verb == "create":
		return o.secret(call, r)
	case r.Object.Resource == "secrets" && verb != "delete":
		return commentAction("Here a user did %s. What is in secrets is not recorded.", what)
	case part == "scale" && (verb == "patch" || verb == "update"):
		if replicas, is := fieldAt(asked, "spec", "replicas").(float64); is {
			return o.stepAbout(call, r, fmt.Sprintf("is scaled to %d", int(replicas)), "")
		}
	case part == "eviction" && verb == "create":
		return o.stepAbout(call, r, "is evicted", "")
	case part != "":
	case verb == "create" && asked != nil:
		return o.putStep(call, r, asked, "created", "")
	case verb == "update" && asked != nil:
		return o.putStep(call, r, asked, "applied", "Here a user replaced the whole object. Applied, it keeps fields that are not given.")
	case verb == "patch":
		return o.patch(call, r, asked)
	case verb == "delete":
		return o.remove(call, r, asked)
	}
	return commentAction("Here a user did %s, which no step can express.", what)
}

func commentAction(format string, args ...any) action {
	return action{note: fmt.Sprintf(format, args...)}
}

// learn notes the kind of a resource.
func (o objects) learn(call auditv1.Event, bodies ...map[string]any) {
	for _, body := range bodies {
		kind, _ := body["kind"].(string)
		if apiVersion, _ := body["apiVersion"].(string); kind == "" || call.ObjectRef.Subresource != "" || apiVersion != groupVersion(call) {
			continue
		}
		o.kinds[call.ObjectRef.Resource+"."+call.ObjectRef.APIGroup] = kind
	}
}

func groupVersion(call auditv1.Event) string {
	if call.ObjectRef.APIGroup == "" {
		return call.ObjectRef.APIVersion
	}
	return call.ObjectRef.APIGroup + "/" + call.ObjectRef.APIVersion
}

// stepAbout is a step about an object.
func (o objects) stepAbout(call auditv1.Event, r history.Event, does, quoted string) action {
	ref := call.ObjectRef
	kind := o.kinds[ref.Resource+"."+ref.APIGroup]
	if kind == "" {
		kind = kinds.KindOf(ref.APIGroup, ref.Resource)
	}
	if kind == "" {
		kind = ref.Resource
	}
	if !kinds.OwnGroup(ref.APIGroup) && (kind == ref.Resource || kinds.OwnKind(kind)) {
		kind += "." + ref.APIGroup
	}
	name, once := r.Object.Name, ""
	if by, is := o.made[r.Object]; is {
		name, once = "$name", by.waitForCreation()
	}
	if namespace := namespaceOf(r); namespace != "" {
		name = namespace + "/" + name
	}
	step := fmt.Sprintf(`"%s/%s" %s%s`, kind, name, does, once)
	if quoted != "" {
		step += ":"
	}
	a := action{step: step, quoted: quoted}
	if once != "" {
		a.note = r.Object.Name + " when this was written: the name is another one in every world."
	}
	return a
}

// namespaceOf is the one that a step has to say. Of a namespace, the API server says that
// it is in itself.
func namespaceOf(r history.Event) string {
	if r.Object.Namespace == metav1.NamespaceDefault || r.Object.Resource == "namespaces" {
		return ""
	}
	return r.Object.Namespace
}

// putStep is a step that creates or applies an object.
func (o objects) putStep(call auditv1.Event, r history.Event, object map[string]any, how, what string) action {
	name := r.Object.Name // the API server may have made it up
	if applied, is := fieldAt(object, "metadata", "annotations", lastApplied).(string); is && how == "created" {
		var written map[string]any // by a user, without defaults
		if json.Unmarshal([]byte(applied), &written) == nil && written["kind"] == object["kind"] {
			object = written
		}
	}
	object = maps.Clone(object)
	if kinds.OwnGroup(call.ObjectRef.APIGroup) && object["spec"] != nil {
		object["spec"] = written(object["spec"])
	}
	metadata, _ := object["metadata"].(map[string]any)
	if metadata = maps.Clone(metadata); metadata == nil {
		metadata = map[string]any{}
	}
	object["metadata"] = metadata
	removeAnnotation(object)
	for _, field := range []string{"resourceVersion", "uid", "creationTimestamp", "generation", "managedFields", "selfLink", "generateName"} {
		delete(metadata, field)
	}
	delete(object, "status")
	metadata["name"] = name
	delete(metadata, "namespace")
	if namespace := namespaceOf(r); namespace != "" {
		metadata["namespace"] = namespace
	}
	return action{step: "these objects are " + how + ":", quoted: inYAML(object), join: true, note: what}
}

// secret is an empty one in place of one that has something.
func (o objects) secret(call auditv1.Event, r history.Event) action {
	a := o.putStep(call, r, map[string]any{"apiVersion": groupVersion(call), "kind": "Secret"}, "created", "")
	a.quoted = "# What was in it is not recorded.\n" + a.quoted
	return a
}

// patch is a step that changes an object, or applies it.
func (o objects) patch(call auditv1.Event, r history.Event, asked map[string]any) action {
	if call.RequestObject == nil {
		return commentAction("Here a user changed %s; the API server's log does not say how.", r.Object)
	}
	if asked == nil { // a list of operations
		text, err := yaml.JSONToYAML(call.RequestObject.Raw)
		if err != nil {
			return commentAction("Here a user changed %s in a way that cannot be read.", r.Object)
		}
		return o.stepAbout(call, r, "is patched with", string(text))
	}
	if asked["apiVersion"] == groupVersion(call) && asked["kind"] != nil {
		return o.putStep(call, r, asked, "applied", "")
	}
	removeAnnotation(asked)
	if len(asked) == 0 {
		return action{}
	}
	a := o.stepAbout(call, r, "is patched with", inYAML(asked))
	if kinds.OwnGroup(call.ObjectRef.APIGroup) && hasPlainList(asked) {
		a.note = strings.TrimSpace(a.note + "\nThe log does not say of which type the next patch was: its lists are merged by their keys, as " +
			"kubectl patch does.")
	}
	return a
}

// remove is a step that deletes an object.
func (o objects) remove(call auditv1.Event, r history.Event, options map[string]any) action {
	does := "is deleted"
	if grace, is := options["gracePeriodSeconds"].(float64); is && grace == 0 {
		does += " by force"
	}
	a := o.stepAbout(call, r, does, "")
	if how, is := options["propagationPolicy"].(string); is && how != string(metav1.DeletePropagationBackground) {
		a.note = fmt.Sprintf("This was deleted with the propagation policy %s; the step takes %s.", how, metav1.DeletePropagationBackground)
	}
	return a
}

// lastApplied is what kubectl apply keeps of what it was given.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// removeAnnotation leaves out what kubectl apply writes for itself.
func removeAnnotation(patch map[string]any) {
	metadata, _ := patch["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations == nil {
		return
	}
	delete(annotations, lastApplied)
	if len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	if len(metadata) == 0 {
		delete(patch, "metadata")
	}
}

// hasPlainList reports whether a patch has a list that says nothing of how it is merged.
func hasPlainList(value any) bool {
	switch value := value.(type) {
	case []any:
		return true
	case map[string]any:
		for key, of := range value {
			_, ordered := value["$setElementOrder/"+key]
			if !strings.HasPrefix(key, "$") && !ordered && hasPlainList(of) {
				return true
			}
		}
	}
	return false
}

// written is the part of a spec that was written: without nulls, empty objects of
// some fields, and defaults.
func written(value any) any {
	switch value := value.(type) {
	case map[string]any:
		object := map[string]any{}
		for key, of := range value {
			inside := written(of)
			empty, isObject := inside.(map[string]any)
			nobodys := isObject && len(empty) == 0 && slices.Contains([]string{"strategy", "resources", "securityContext"}, key)
			switch {
			case key == "metadata": // of a template: its labels have any names
				if metadata, is := of.(map[string]any); is {
					delete(metadata, "creationTimestamp")
				}
				object[key] = of
			case of != nil && !nobodys && inside != defaults[key]:
				object[key] = inside
			}
		}
		return object
	case []any:
		list := make([]any, len(value))
		for i := range value {
			list[i] = written(value[i])
		}
		return list
	}
	return value
}

// defaults are what the API server fills into pods before its log sees them.
var defaults = map[string]any{
	"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", "dnsPolicy": "ClusterFirst",
	"restartPolicy": "Always",
	"schedulerName": "default-scheduler", "terminationGracePeriodSeconds": 30.0, "enableServiceLinks": true,
	"progressDeadlineSeconds": 600.0, "revisionHistoryLimit": 10.0,
}

// fields are those of a body; nil if it is none, or a list.
func fields(body *runtime.Unknown) (all map[string]any, err error) {
	if body == nil {
		return nil, nil
	}
	err = json.Unmarshal(body.Raw, &all)
	return all, err
}

// fieldAt is a field somewhere in an object; nil if it is not there.
func fieldAt(object map[string]any, path ...string) any {
	for _, key := range path[:len(path)-1] {
		object, _ = object[key].(map[string]any)
	}
	return object[path[len(path)-1]]
}

// inYAML is an object with the fields that say what it is before the others.
func inYAML(object map[string]any) string {
	var text strings.Builder
	rest := maps.Clone(object)
	for _, first := range []string{"apiVersion", "kind", "metadata"} {
		if value, is := rest[first]; is {
			text.WriteString(marshalled(map[string]any{first: value}))
			delete(rest, first)
		}
	}
	if len(rest) > 0 {
		text.WriteString(marshalled(rest))
	}
	return text.String()
}

func marshalled(value any) string {
	text, err := yaml.Marshal(value)
	if err != nil {
		return "" // what came out of JSON can be said in YAML
	}
	return string(text)
}
