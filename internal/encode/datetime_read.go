package encode

func (r *timeReader) date([]byte) (int32, fault)            { return 0, onlyServer }
func (r *timeReader) timestamp([]byte, bool) (int64, fault) { return 0, onlyServer }
func (r *timeReader) clock([]byte, bool) (int64, int32, fault) {
	return 0, 0, onlyServer
}
