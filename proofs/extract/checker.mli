
val negb : bool -> bool

val fst : ('a1 * 'a2) -> 'a1

val snd : ('a1 * 'a2) -> 'a2

val length : 'a1 list -> int

val app : 'a1 list -> 'a1 list -> 'a1 list

type comparison =
| Eq
| Lt
| Gt

val compOpp : comparison -> comparison

val sub : int -> int -> int

val eqb : bool -> bool -> bool

module Nat :
 sig
  val sub : int -> int -> int

  val ltb : int -> int -> bool

  val divmod : int -> int -> int -> int -> int * int

  val div : int -> int -> int

  val modulo : int -> int -> int
 end

type positive =
| XI of positive
| XO of positive
| XH

type z =
| Z0
| Zpos of positive
| Zneg of positive

module Pos :
 sig
  val succ : positive -> positive

  val add : positive -> positive -> positive

  val add_carry : positive -> positive -> positive

  val pred_double : positive -> positive

  val mul : positive -> positive -> positive

  val compare_cont : comparison -> positive -> positive -> comparison

  val compare : positive -> positive -> comparison

  val eqb : positive -> positive -> bool
 end

val nth : int -> 'a1 list -> 'a1 -> 'a1

val concat : 'a1 list list -> 'a1 list

val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list

val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list

val find : ('a1 -> bool) -> 'a1 list -> 'a1 option

val seq : int -> int -> int list

module Z :
 sig
  val double : z -> z

  val succ_double : z -> z

  val pred_double : z -> z

  val pos_sub : positive -> positive -> z

  val add : z -> z -> z

  val opp : z -> z

  val sub : z -> z -> z

  val mul : z -> z -> z

  val compare : z -> z -> comparison

  val leb : z -> z -> bool

  val ltb : z -> z -> bool

  val eqb : z -> z -> bool

  val pos_div_eucl : positive -> z -> z * z

  val div_eucl : z -> z -> z * z

  val modulo : z -> z -> z
 end

type q = { qnum : z; qden : positive }

val qle_bool : q -> q -> bool

val qplus : q -> q -> q

val qmult : q -> q -> q

val qopp : q -> q

val qminus : q -> q -> q

type law =
| Laplace
| Exponential
| Exact

type place =
| Zero
| Insample
| Held of int

type term = { negative : bool; whence : place; plus : q }

type atom = { low : term; high : term; strict : bool }

type item =
| Sym of int
| Number of term * term
| Other

type stat = { reads : bool; law_of : law; d : q; mu : q; law_of' : law;
              d' : q; mu' : q }

type trans = { src : int; tgt : int; t_ge : int list; t_lt : int list;
               others : atom list; asg : int list;
               copies : (int * term) list; out : item list }

type automaton = { initial : int; states : stat list; transitions : trans list }

val stat0 : stat

val trans0 : trans

val st : automaton -> int -> stat

val tr : automaton -> int -> trans

val leaving : automaton -> int -> int list

val mem : int -> int list -> bool

type 'x tree =
| Leaf
| Node of 'x * 'x tree * 'x tree

val get : 'a1 tree -> int -> 'a1 option

val push : 'a1 -> 'a1 tree -> 'a1 tree

val change : ('a1 -> 'a1) -> int -> 'a1 tree -> 'a1 tree

val array : 'a1 list -> 'a1 tree

val at_place : 'a1 -> 'a1 tree -> int -> 'a1

val blank : int -> 'a1 list tree

val beyond : ('a1 -> int) -> 'a1 list -> int

val index : ('a1 -> int) -> 'a1 list -> 'a1 list tree

val with_key : 'a1 list tree -> int -> 'a1 list

type bnode = { b_state : int; b_less : (int * int) list;
               b_same : (int * int) list }

type ivs = (int * (q * q) option) list

type lnode = { l_base : int; l_pot : q; l_own : ivs }

type edge = (int * int) * int

type graph = { b_nodes : bnode list; b_edges : edge list; forward : bool;
               everywhere : ivs; l_nodes : lnode list; l_edges : edge list }

type claim = { c_low : q; c_high : q; c_sens : q; c_D : q }

type cert = { c_claim : claim; c_graph : graph; stored : int list list }

type pcert = { p_claim : claim; p_pots : q list;
               p_parts : (int list * graph) list; p_stored : int list list }

val source : edge -> int

val via : edge -> int

val target : edge -> int

val bnode0 : bnode

val lnode0 : lnode

val bn : graph -> int -> bnode

val ln : graph -> int -> lnode

val having : ('a1 -> int) -> 'a1 list -> int -> 'a1 list

val numbers : 'a1 list -> int list

type view = { tr_of : (int -> trans); st_of : (int -> stat);
              leaving_of : (int -> int list); stored_of : (int -> int list) }

type gview = { bn_of : (int -> bnode); out_of : (int -> edge list);
               ln_of : (int -> lnode); over_of : (int -> int list);
               from_of : (int -> edge list); to_of : (int -> edge list);
               by_of : (int -> edge list); every_of : (int -> ivs) }

val plain : automaton -> int list list -> view

val gplain : graph -> gview

type trees = { tr_tree : trans tree; st_tree : stat tree;
               leaving_tree : int list tree; stored_tree : int list tree }

type gtrees = { bn_tree : bnode tree; out_tree : edge list tree;
                ln_tree : lnode tree; over_tree : int list tree;
                from_tree : edge list tree; to_tree : edge list tree;
                by_tree : edge list tree;
                every_tree : (int * (q * q) option) list tree }

val grow : automaton -> int list list -> trees

val ggrow : graph -> gtrees

val by_trees : trees -> view

val by_gtrees : gtrees -> gview

val memp : (int * int) -> (int * int) list -> bool

val subset : int list -> int list -> bool

val qlt_bool : q -> q -> bool

val nonempty : 'a1 list -> bool

val meets : int list -> int list -> bool

val is_some : 'a1 option -> bool

val within : int list -> int list -> bool

val without : int list -> int list -> int list

val fits : q list -> q list -> bool

val zero : term

val insample : term

val is_sample : term -> bool

val held_by : term -> int list

val terms_of : item -> term list

val is_other : item -> bool

val shows_other : trans -> bool

val terms : trans -> term list

val uses : trans -> bool

val read : trans -> int list

val gets : trans -> int list

val place_eqb : place -> place -> bool

val same_place : term -> term -> bool

val excludes : atom -> atom -> bool

val minus : term -> term

val mirrored : atom -> atom

val atoms : trans -> atom list

val opposite : trans -> trans -> bool

val asked : trans -> (term * term) list

val is_live : law -> q -> bool

val check_trans : view -> int -> bool

val check_model : automaton -> view -> bool

val check_claim : claim -> bool

val goal : gview -> int -> int -> int option

val swap : (int * int) -> int * int

val same : bnode -> (int * int) list

val below : bnode -> trans -> int list

val above : bnode -> trans -> int list

val contradicts : bnode -> trans -> bool

val is_copy : trans -> int -> bool

val less_follows : bnode -> trans -> (int * int) -> bool

val same_follows : bnode -> trans -> (int * int) -> bool

val check_base_step : view -> gview -> int -> int -> bool

val check_base_edge : automaton -> view -> graph -> gview -> edge -> bool

val check_base : automaton -> view -> graph -> gview -> bool

val assoc : int -> ivs -> (q * q) option option

val iv : gview -> int -> int -> (q * q) option

val check_ivs : (q -> bool) -> ivs -> bool

val check_shifts : (q -> bool) -> graph -> bool

val has_edge_from : gview -> int -> int -> bool

val has_edge_to : gview -> int -> int -> int -> bool

val check_cover : graph -> gview -> bool

val keys : ivs -> int list

val check_kept : gview -> trans -> int -> int -> bool

val ends : gview -> ((q * q) -> q) -> int -> int list -> q list

val turned : bool -> (q * q) -> q * q

val shifts : gview -> int -> term -> (q * q) option

val check_copies : gview -> trans -> int -> int -> bool

val ask : gview -> int -> (term * term) -> (q list * q list) option

val ask_floors : gview -> int -> (term * term) -> q list

val ask_ceilings : gview -> int -> (term * term) -> q list

val floors : gview -> trans -> int -> int -> q list

val ceilings : gview -> trans -> int -> int -> q list

val check_ledge : view -> graph -> gview -> (int -> bool) -> edge -> bool

val check_graph :
  (q -> bool) -> automaton -> view -> graph -> gview -> (int -> bool) -> bool

val rel : view -> trans -> q

val extremes : view -> claim -> trans -> q list

val misses : q list -> q list -> q -> q list

val check_law : law -> q list -> q list -> q -> bool

val check_cost : view -> claim -> trans -> q list -> q list -> q -> bool

val check_potentials : view -> graph -> gview -> claim -> bool

val asked_floors : view -> gview -> int -> q list

val asked_ceilings : view -> gview -> int -> q list

val check_private : (q -> bool) -> automaton -> view -> cert -> gview -> bool

val check_part :
  (q -> bool) -> automaton -> view -> gview -> (int list * graph) -> bool

type views = (gview * (int list * graph)) list

val is_sample_shown : item -> bool

val shows_sample : trans -> bool

val is_plain : trans -> bool

val zero_if : bool -> q list

val check_parts_step : view -> pcert -> (int -> q) -> views -> int -> bool

val check_in_parts :
  (q -> bool) -> automaton -> view -> pcert -> (int -> q) -> views -> bool

val check : (q -> bool) -> automaton -> cert -> bool

val check_parts : (q -> bool) -> automaton -> pcert -> bool

val any_number : q -> bool

val on_grid : positive -> q -> bool
