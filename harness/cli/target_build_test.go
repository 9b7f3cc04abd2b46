package cli

import "testing"

// Whatever a build is made of, its clock is left out if that is asked for.
func TestPlain(t *testing.T) {
	for _, s := range []source{
		{},
		{provider: "instances"},
		{dir: t.TempDir(), tags: []string{"a", "b"}},
		{module: "example.com/fork@v1.0.0"},
	} {
		for _, s.plain = range []bool{false, true} {
			recipes, err := s.recipes([]string{"karpenter@v1.7.0"})
			if err != nil {
				t.Fatal(err)
			}
			for _, recipe := range recipes {
				if recipe.Plain != s.plain {
					t.Errorf("%+v makes a recipe with Plain %v", s, recipe.Plain)
				}
			}
		}
	}
}
