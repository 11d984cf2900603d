
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

val add : int -> int -> int

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
  type mask =
  | IsNul
  | IsPos of positive
  | IsNeg
 end

module Coq_Pos :
 sig
  val succ : positive -> positive

  val add : positive -> positive -> positive

  val add_carry : positive -> positive -> positive

  val pred_double : positive -> positive

  type mask = Pos.mask =
  | IsNul
  | IsPos of positive
  | IsNeg

  val succ_double_mask : mask -> mask

  val double_mask : mask -> mask

  val double_pred_mask : positive -> mask

  val sub_mask : positive -> positive -> mask

  val sub_mask_carry : positive -> positive -> mask

  val sub : positive -> positive -> positive

  val mul : positive -> positive -> positive

  val size_nat : positive -> int

  val compare_cont : comparison -> positive -> positive -> comparison

  val compare : positive -> positive -> comparison

  val eqb : positive -> positive -> bool

  val ggcdn : int -> positive -> positive -> positive * (positive * positive)

  val ggcd : positive -> positive -> positive * (positive * positive)
 end

val in_dec : ('a1 -> 'a1 -> bool) -> 'a1 -> 'a1 list -> bool

val nth : int -> 'a1 list -> 'a1 -> 'a1

val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list

val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list

val find : ('a1 -> bool) -> 'a1 list -> 'a1 option

val combine : 'a1 list -> 'a2 list -> ('a1 * 'a2) list

val nodup : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list

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

  val sgn : z -> z

  val leb : z -> z -> bool

  val ltb : z -> z -> bool

  val eqb : z -> z -> bool

  val abs : z -> z

  val to_pos : z -> positive

  val pos_div_eucl : positive -> z -> z * z

  val div_eucl : z -> z -> z * z

  val div : z -> z -> z

  val modulo : z -> z -> z

  val ggcd : z -> z -> z * (z * z)
 end

val zeq_bool : z -> z -> bool

type q = { qnum : z; qden : positive }

val inject_Z : z -> q

val qeq_bool : q -> q -> bool

val qle_bool : q -> q -> bool

val qplus : q -> q -> q

val qmult : q -> q -> q

val qopp : q -> q

val qminus : q -> q -> q

val qred : q -> q

val qfloor : q -> z

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
              d' : q; mu' : q; factors : (int * q) list }

type update = { from : int option; adds : bool }

type trans = { src : int; tgt : int; t_ge : int list; t_lt : int list;
               others : atom list; asg : int list;
               copies : (int * term) list; sets : (int * update) list;
               out : item list }

type pattern = (int option * int option) list

type automaton = { initial : int; states : stat list;
                   transitions : trans list; differ : pattern }

val stat0 : stat

val trans0 : trans

val mem : int -> int list -> bool

val lookup : int -> (int * 'a1) list -> 'a1 option

val every_entry : pattern

val entries : int -> pattern

val window : int -> pattern

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

type bnode = { b_state : int; b_facts : atom list;
               b_distinct : (term * term) list; b_apart : int;
               b_known : (int * q) list }

type ivs = (int * (q * q) option) list

type lnode = { l_base : int; l_pot : q; l_own : ivs }

type differs =
| Same
| Any
| Least
| Largest

type way = int * differs

type edge = (int * way) * int

type graph = { b_nodes : bnode list; b_edges : edge list; forward : bool;
               everywhere : ivs; l_nodes : lnode list; l_edges : edge list }

type claim = { c_low : q; c_high : q; c_sens : q; c_D : q }

type sums = (int * q) list

type hints = { stored : int list list; lesser : int list list;
               why : (atom list -> atom -> sums);
               between : (atom list -> atom list) }

type cert = { c_claim : claim; c_ground : graph; c_parts : graph list;
              c_layer : int list; c_hints : hints }

type grade = { shift_ok : (q -> bool); factor_ok : (q -> bool); mixes : 
               bool; only_ends : (q -> q -> bool); smooth : bool; whole : 
               bool }

val source : edge -> int

val via : edge -> way

val number : edge -> int

val target : edge -> int

val bnode0 : bnode

val lnode0 : lnode

val numbers : 'a1 list -> int list

type view = { tr_of : (int -> trans); st_of : (int -> stat);
              leaving_of : (int -> int list); stored_of : (int -> int list);
              moves_of : (int -> int option * int option);
              lesser_of : (int -> int list);
              why_of : (atom list -> atom -> sums);
              between_of : (atom list -> atom list) }

type gview = { bn_of : (int -> bnode); out_of : (int -> edge list);
               ln_of : (int -> lnode); over_of : (int -> int list);
               from_of : (int -> edge list); to_of : (int -> edge list);
               by_of : (int -> edge list); every_of : (int -> ivs) }

type trees = { tr_tree : trans tree; st_tree : stat tree;
               leaving_tree : int list tree; stored_tree : int list tree;
               moves_tree : (int option * int option) tree;
               lesser_tree : int list tree;
               why_tree : (atom list -> atom -> sums);
               between_tree : (atom list -> atom list) }

type gtrees = { bn_tree : bnode tree; out_tree : edge list tree;
                ln_tree : lnode tree; over_tree : int list tree;
                from_tree : edge list tree; to_tree : edge list tree;
                by_tree : edge list tree;
                every_tree : (int * (q * q) option) list tree }

val grow : automaton -> hints -> trees

val ggrow : graph -> gtrees

val by_trees : trees -> view

val by_gtrees : gtrees -> gview

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

val minus : term -> term

val atoms : trans -> atom list

type form = (place * q) list

val put : place -> q -> form -> form

val put_term : q -> term -> form -> form

val put_atom : q -> atom -> form -> form

val vanishes : form -> bool

val trivial : atom

val taken_from : atom list -> sums -> (atom * q) list

val over : atom -> q

val bound_by : (atom * q) list -> atom -> (q * bool) option

val asked : trans -> (term * term) list

val uses_mean : trans -> bool

val is_live : law -> q -> bool

val integer_to : q -> bool -> q

val rounded : atom -> atom

val bound : view -> bool -> atom list -> atom -> (q * bool) option

val follows : view -> bool -> atom list -> atom -> bool

val impossible : view -> bool -> atom list -> bool

val given : view -> atom list -> term -> bool

val sharpened : view -> bool -> atom list -> atom list

val fresh : grade -> view -> trans -> bool

val fresh_pair : grade -> view -> trans -> term -> term -> bool

val stricter : bool -> atom -> atom

val support : view -> trans -> atom list

val sure : grade -> view -> trans -> atom list

val opposite : grade -> view -> trans -> trans -> bool

val check_trans : grade -> view -> int -> bool

val allows_too : view -> int -> int option -> int option -> bool

val check_lesser : view -> int -> int -> bool

val check_whole : grade -> automaton -> bool

val check_model : grade -> automaton -> view -> bool

val check_claim : claim -> bool

val entry_of : claim -> differs -> q * q

val differs_eqb : differs -> differs -> bool

val way_eqb : way -> way -> bool

val goal : gview -> int -> way -> int option

val like : term -> term -> bool

val alike_pairs : (term * term) -> (term * term) -> bool

val distinct : bnode -> term -> term -> bool

val parted : view -> bnode -> atom list -> atom -> bool

val told : grade -> view -> bnode -> trans -> atom list

val known : grade -> view -> bnode -> trans -> atom list

val as_before : trans -> term -> term

val fact_follows : grade -> view -> trans -> atom list -> atom -> bool

val distinct_follows :
  grade -> view -> bnode -> trans -> (term * term) -> bool

val idle : trans -> (int * q) list -> bool

val check_ways :
  grade -> automaton -> view -> claim -> gview -> bool -> int -> int -> bool

val check_base_step :
  grade -> automaton -> view -> claim -> gview -> bool -> int -> int -> bool

val register_follows :
  claim -> trans -> differs -> (int * q) list -> (int * q) -> bool

val pattern_follows : view -> bool -> trans -> differs -> int -> int -> bool

val check_base_edge :
  automaton -> view -> claim -> graph -> gview -> bool -> edge -> bool

val lasting : (term * term) -> bool

val check_base :
  grade -> automaton -> view -> claim -> graph -> gview -> bool -> bool

val assoc : int -> ivs -> (q * q) option option

val iv : gview -> int -> int -> (q * q) option

val check_ivs : grade -> (int -> bool) -> ivs -> bool

val check_shifts : grade -> graph -> (int -> bool) -> bool

val has_edge_from : gview -> int -> way -> bool

val has_edge_to : gview -> int -> way -> int -> bool

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

val is_own : (int -> bool) -> (term * term) -> bool

val answered : view -> gview -> int -> (term * term) -> bool

val check_ledge : view -> graph -> gview -> (int -> bool) -> edge -> bool

val check_graph :
  grade -> automaton -> view -> claim -> graph -> gview -> bool -> (int ->
  bool) -> bool

val rel : view -> trans -> q

val weighed_of : (int * q) list -> (int * q) list -> q option

val means :
  view -> claim -> trans -> differs -> (int * q) list -> (q * q) option

val misses : q list -> q list -> q -> q list

val check_law : law -> q list -> q list -> q -> bool

val check_cost : view -> trans -> (q * q) -> q list -> q list -> q -> bool

val range : gview -> trans -> edge list -> q list * q list

val joining : int -> int -> trans -> trans

val first_node : gview -> int

val lifted : automaton -> view -> graph -> gview -> automaton

val is_in : (int -> int) -> int -> int -> bool

val in_one_layer : gview list -> (int -> int) -> (term * term) -> bool

val is_answered :
  view -> gview list -> (int -> int) -> (gview * edge list) list ->
  (term * term) -> bool

val compatible : (q list * q list) list -> bool

val check_step :
  view -> cert -> gview -> gview list -> (int -> int) -> (int * edge) -> bool

val check_bound : cert -> gview -> gview list -> bool

val numbered : 'a1 list -> (int * 'a1) list

val check_ground :
  grade -> automaton -> view -> cert -> gview -> gview list -> (int -> int)
  -> bool

val for_parts : hints -> hints

val check_part :
  grade -> automaton -> view -> claim -> (int -> int) ->
  (int * (gview * graph)) -> bool

val check : grade -> automaton -> cert -> bool

val on_grid : positive -> q -> bool

val real_numbers : grade

val multiples : positive -> grade

val integers : grade

type rstep = { taken : int; entry_at : q; more : q; drawn : q; drawn' : 
               q; weights : q list; pulls : q list }

type rcert = { r_claim : claim; r_run : rstep list; r_hints : hints }

type gcert = { g_claim : claim; g_before : rstep list; g_round : rstep list;
               g_after : rstep list; g_hints : hints }

type numbers_of = (int * q) list

val getQ : numbers_of -> int -> q

val heldQ : numbers_of -> q -> place -> q

val valueQ : numbers_of -> q -> term -> q

val updQ : numbers_of -> trans -> q -> numbers_of

val setQ : (int * update) list -> q -> numbers_of -> numbers_of

val weighedQ : (int * q) list -> numbers_of -> q

val atom_holds : numbers_of -> q -> atom -> bool

val can_beQ : positive -> law -> q -> q -> q -> bool

type linear = numbers_of * q

val plus_at : int -> q -> numbers_of -> numbers_of

val add_term : q -> term -> linear -> linear

val pulled : trans -> numbers_of -> linear

val add_atoms : (atom * q) list -> linear -> linear

val add_items : (item * q) list -> linear -> linear

val pulled' : (item * q) list -> q

val withinQ : law -> q -> q -> bool

val alike : item list -> item list -> bool

val read_of : view -> rstep -> q -> q

val possible :
  positive -> automaton -> view -> rstep list -> int -> numbers_of ->
  numbers_of -> bool

val stepped : view -> rstep -> numbers_of -> linear

val steep' : view -> rstep -> q

val back : view -> rstep list -> numbers_of -> numbers_of * (q * q) list

val check_steep : view -> q -> rstep -> (q * q) -> bool

val worth : view -> rstep list -> (q * q) list -> numbers_of -> q

val advance :
  view -> rstep list -> int -> numbers_of -> numbers_of ->
  (int * numbers_of) * numbers_of

val differing_after : view -> rstep list -> numbers_of -> numbers_of

val check_more : positive -> view -> claim -> rstep -> bool

val follows0 : view -> int -> rstep list -> int -> bool

val pattern_after : view -> rstep list -> int -> int option

val alone : view -> rstep list -> int -> int list -> bool

val rivals_after : view -> rstep list -> int -> int list -> int * int list

val same_number : q -> q -> bool

val same_numbers : numbers_of -> numbers_of -> bool

val same_list : int list -> int list -> bool

val untouched : view -> rstep list -> numbers_of -> bool

val check_rounds : positive -> automaton -> view -> gcert -> bool

val check_run :
  positive -> automaton -> view -> q -> (q -> bool) -> rcert -> bool

val worth_D : rcert -> q -> bool

val check_lower : positive -> automaton -> rcert -> bool

val check_growth : positive -> automaton -> rcert -> bool

val check_growth_in_rounds : positive -> automaton -> gcert -> bool
