package buildstore

import (
	"testing"

	"nodestorm/harness/builds"
)

// Whatever a build is made of, its clock is left out if that is asked for.
func TestPlain(t *testing.T) {
	for _, q := range []Request{
		{},
		{Provider: builds.Instances},
		{Dir: t.TempDir(), Tags: []string{"a", "b"}},
		{Module: "example.com/fork@v1.0.0"},
	} {
		for _, q.Plain = range []bool{false, true} {
			recipes, err := q.Recipes([]string{"karpenter@v1.7.0"})
			if err != nil {
				t.Fatal(err)
			}
			for _, recipe := range recipes {
				if recipe.Plain != q.Plain {
					t.Errorf("%+v makes a recipe with Plain %v", q, recipe.Plain)
				}
			}
		}
	}
}
