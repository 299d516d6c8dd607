// Reads CNI configuration lists with the library container runtimes use, and prints what it made of each.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/containernetworking/cni/libcni"
)

type read struct {
	Name       string   `json:"name"`
	CNIVersion string   `json:"cniVersion"`
	Plugins    []string `json:"plugins"`
}

func main() {
	lists := []read{}
	for _, file := range os.Args[1:] {
		list, err := libcni.ConfListFromFile(file)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", file, err)
			os.Exit(1)
		}
		plugins := []string{}
		for _, plugin := range list.Plugins {
			plugins = append(plugins, plugin.Network.Type)
		}
		lists = append(lists, read{list.Name, list.CNIVersion, plugins})
	}
	if err := json.NewEncoder(os.Stdout).Encode(lists); err != nil {
		os.Exit(1)
	}
}
