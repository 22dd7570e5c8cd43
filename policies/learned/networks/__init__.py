"""Networks that choose writes, and the estimator that some of them stand on; `table` names them."""
