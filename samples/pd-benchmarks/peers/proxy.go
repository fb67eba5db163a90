// A reverse proxy on Go's standard library, which implements the nixlv2 connector. Like llm-d's sidecar, it decodes bodies into maps.
//
//	proxy <port> <decode port>
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
)

const prefillHeader = "x-prefiller-host-port"

var edited = []string{"stream", "stream_options", "max_tokens", "max_completion_tokens", "min_tokens"}

var transport = func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns = 0
	t.MaxIdleConnsPerHost = 1024
	return t
}()

func main() {
	decoder := &url.URL{Scheme: "http", Host: "localhost:" + os.Args[2]}
	decode := httputil.NewSingleHostReverseProxy(decoder)
	decode.Transport = transport
	mux := http.NewServeMux()
	mux.Handle("/", decode)
	mux.HandleFunc("/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		prefiller := r.Header.Get(prefillHeader)
		r.Header.Del(prefillHeader)
		if prefiller == "" {
			decode.ServeHTTP(w, r)
			return
		}
		prefillThenDecode(w, r, strings.TrimSpace(strings.Split(prefiller, ",")[0]), decode)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], mux))
}

func prefillThenDecode(w http.ResponseWriter, r *http.Request, prefiller string, decode http.Handler) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Header.Add("x-request-id", requestID())
	original := map[string]any{}
	for _, field := range edited {
		if value, present := body[field]; present {
			original[field] = value
		}
	}
	answer, status, err := prefill(r, prefiller, body)
	if err != nil || status/100 != 2 {
		w.WriteHeader(status)
		return
	}
	for _, field := range edited {
		delete(body, field)
	}
	for field, value := range original {
		body[field] = value
	}
	body["kv_transfer_params"] = answer["kv_transfer_params"]
	again, err := json.Marshal(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	setBody(r, again)
	decode.ServeHTTP(w, r)
}

func prefill(r *http.Request, prefiller string, body map[string]any) (map[string]any, int, error) {
	body["kv_transfer_params"] = map[string]any{
		"do_remote_decode":  true,
		"do_remote_prefill": false,
		"remote_engine_id":  nil,
		"remote_block_ids":  nil,
		"remote_host":       nil,
		"remote_port":       nil,
	}
	body["stream"] = false
	delete(body, "stream_options")
	body["max_tokens"] = 1
	body["max_completion_tokens"] = 1
	body["min_tokens"] = 1
	edited, err := json.Marshal(body)
	if err != nil {
		return nil, http.StatusInternalServerError, err
	}
	request := r.Clone(r.Context())
	request.RequestURI = ""
	request.URL.Scheme = "http"
	request.URL.Host = prefiller
	setBody(request, edited)
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, http.StatusBadGateway, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, http.StatusBadGateway, err
	}
	var answer map[string]any
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, http.StatusBadRequest, err
	}
	return answer, response.StatusCode, nil
}

func setBody(r *http.Request, body []byte) {
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
}

func requestID() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id)
	return hex.EncodeToString(id)
}
