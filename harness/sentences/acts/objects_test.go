package acts

import (
	"strings"
	"testing"

	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

// What a pod says of its containers' behaviour is something that a node goes by.
func TestBehaviour(t *testing.T) {
	for annotation, want := range map[string]string{
		`"nodestorm.sim/run-for": 90s`:      "",
		`"nodestorm.sim/stop-after": "2h"`:  "",
		`"nodestorm.sim/stop-after": soon`:  "annotation nodestorm.sim/stop-after: soon is no duration such as 90s",
		`"nodestorm.sim/stop-after": "-1s"`: "annotation nodestorm.sim/stop-after: -1s is no duration such as 90s",
		`"nodestorm.sim/runs-for": 1m`: "annotation nodestorm.sim/runs-for: there is nodestorm.sim/run-for, nodestorm.sim/stop-after, " +
			"nodestorm.sim/serve-after",
	} {
		text := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  template:\n" +
			"    metadata: {labels: {app: web}, annotations: {" + annotation + "}}\n    spec: {containers: [{name: web, image: web}]}\n"
		err := checkObjects(&scene.Feature{}, words.Args{Quoted: text})
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("%s: %v; want %q", annotation, err, want)
		}
	}
}
