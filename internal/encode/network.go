package encode

// networkTypes are the types of network addresses.
var networkTypes = map[uint32]maker{}
