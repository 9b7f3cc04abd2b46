package vcenter

import (
	"crypto/subtle"
	"net/http"
	"net/url"
	"strings"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vapi/rest"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

// Vcsim opens more doors than a vCenter's user has keys to: to unsigned tokens, to any certificate, to readers and to
// files without a session. Anybody on the machine could have a machine ended so. What is not the password's way is closed.

// shut closes them on a service that is not served yet.
func (s *Server) shut(service *simulator.Service) {
	s.model.Map().Handler = s.admits
	for _, path := range []string{vim25.Path, vim25.Path + "/vimService"} {
		service.HandleFunc(http.MethodPost+" "+path, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, mostBytes) // vcsim reads all of it before it looks at who asks
			service.ServeSDK(w, r)
		})
	}
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		for _, path := range []string{"/folder/", "/nfc/", "/guestFile/"} { // files, of which no machine of a cloud has any
			service.HandleFunc(method+" "+path, s.refuse)
		}
	}
	// A caller with a session was admitted; a new one is made by POST alone.
	for _, path := range []string{rest.Path, rest.Path + "/", apiPath, apiPath + "/"} {
		service.HandleFunc(http.MethodPost+" "+path, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("~action") == "" && (strings.HasSuffix(r.URL.Path, sessionPath) || strings.Trim(r.URL.Path, "/") == "api") &&
				!s.knows(r.BasicAuth()) {
				s.refuse(w, r)
				return
			}
			vapi, _ := service.ServeMux.Handler(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: r.URL.Path}})
			vapi.ServeHTTP(w, r)
		})
	}
}

// mostBytes is more than any call needs.
const mostBytes = 4 << 20

// Where vcsim's API of tags is, and where of it sessions are made, as its internal packages have it.
const (
	apiPath     = "/api"
	sessionPath = "/session"
)

// admits lets calls of SOAP through that have a session, or are to get one with the password.
func (s *Server) admits(ctx *simulator.Context, m *simulator.Method) (mo.Reference, types.BaseMethodFault) {
	// mutant: a vCenter's session is anybody's who asks for one
	if ctx.Session != nil || m.Name == "Login" || m.Name == "RetrieveServiceContent" {
		return nil, nil
	}
	s.others.Came()
	return nil, &types.NotAuthenticated{NoPermission: types.NoPermission{Object: &m.This, PrivilegeId: "System.View"}}
}

func (s *Server) knows(user, password string, shown bool) bool {
	same := subtle.ConstantTimeCompare([]byte(user+"\x00"+password), []byte(s.user+"\x00"+s.password))
	return shown && same == 1
}

func (s *Server) refuse(w http.ResponseWriter, _ *http.Request) {
	s.others.Came()
	w.WriteHeader(http.StatusUnauthorized)
}
