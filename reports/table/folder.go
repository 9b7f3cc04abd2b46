package table

import (
	"fmt"
	"path/filepath"
	"strings"

	"nodestorm/reports/wording"
)

// mostFolders is how many folders are named.
const mostFolders = 3

// Numbered names the folders of runs that have a number, since an earlier command left runs in those that people would look
// into. It is empty if there are none.
func Numbered(rows []Row) string {
	type pair struct{ id, target string }
	first, here := map[pair]bool{}, map[string]bool{}
	for _, r := range rows {
		here[r.Run] = true
	}
	var folders []string
	for _, r := range rows {
		of := pair{r.ID, r.Target}
		if r.Run == "" || first[of] {
			continue
		}
		first[of] = true
		plain := filepath.Join(filepath.Dir(r.Run), r.Target)
		if strings.HasPrefix(filepath.Base(r.Run), r.Target+".") && !here[plain] {
			folders = append(folders, wording.Clean(r.Run))
		}
	}
	if len(folders) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nEarlier runs have the folders without a number. These are new:\n")
	for i, folder := range folders {
		if i == mostFolders {
			fmt.Fprintf(&b, "  and %d more\n", len(folders)-i)
			break
		}
		fmt.Fprintf(&b, "  %s\n", folder)
	}
	return b.String()
}
