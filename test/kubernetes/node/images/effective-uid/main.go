// Installed with the set-uid bit: what it prints tells the suite whether the bit counted.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Println("Effective uid:", os.Geteuid())
}
