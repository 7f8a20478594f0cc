//go:build !race

package alternatetwo

// The publication of a slot, where a plain store is enough.

import "unsafe"

// publish stores p so that the consumer, once it sees p, sees all that was written before. On this architecture every
// plain store of a word does that. The atomic one is a full fence besides, which nothing here needs: the sleep
// protocol pairs with the claim, not with the publication.
func publish(slot *unsafe.Pointer, p unsafe.Pointer) { *slot = p }
