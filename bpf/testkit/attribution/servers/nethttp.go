// SPDX-License-Identifier: Apache-2.0

// One of the servers of the attribution test, on Go's net/http, with a goroutine per connection on a few threads.
package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

var marks = os.Getenv("MARKS")

func mark(id string, number int) {
	if file, err := os.Open(fmt.Sprintf("%s/%s.%d", marks, id, number)); err == nil {
		file.Close()
	}
}

func answer(response http.ResponseWriter, request *http.Request) {
	io.Copy(io.Discard, request.Body)
	parts := strings.Split(request.URL.Path, "/")
	var n [5]int
	for i := range n {
		n[i], _ = strconv.Atoi(parts[3+i])
	}
	id, opens, chunk, chunks, pad, delay := parts[2], n[0], n[1], n[2], n[3], n[4]
	for i := 0; i < opens; i++ {
		mark(id, i)
	}
	if parts[8] == "boom" {
		panic(http.ErrAbortHandler)
	}
	response.Header().Set("Content-Length", strconv.Itoa(chunk*chunks))
	response.Header().Set("X-Pad", strings.Repeat("p", pad))
	response.WriteHeader(200)
	flusher := response.(http.Flusher)
	flusher.Flush()
	for i := 0; i < chunks; i++ {
		if i > 0 {
			time.Sleep(time.Duration(delay) * time.Millisecond)
			mark(id, opens+i-1)
		}
		response.Write(bytes.Repeat([]byte("c"), chunk))
		flusher.Flush()
	}
}

func main() {
	log.SetOutput(io.Discard)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	http.Serve(listener, http.HandlerFunc(answer))
}
