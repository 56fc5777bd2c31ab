package encode

// geometricTypes are the geometric types.
var geometricTypes = map[uint32]maker{}
