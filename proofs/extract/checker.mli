
val xorb : bool -> bool -> bool

val negb : bool -> bool

val option_map : ('a1 -> 'a2) -> 'a1 option -> 'a2 option

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

val nth : int -> 'a1 list -> 'a1 -> 'a1

val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list

val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1

val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list

val find : ('a1 -> bool) -> 'a1 list -> 'a1 option

val combine : 'a1 list -> 'a2 list -> ('a1 * 'a2) list

val firstn : int -> 'a1 list -> 'a1 list

val skipn : int -> 'a1 list -> 'a1 list

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

val st : automaton -> int -> stat

val tr : automaton -> int -> trans

val leaving : automaton -> int -> int list

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

val plain : automaton -> hints -> view

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

val some_multiples : grade

type order = (place * place) list

val pair_eqb : (place * place) -> (place * place) -> bool

val listed : order -> (place * place) -> bool

val at_most : order -> place -> place -> bool

val ends_of : atom -> (place * place) option

val is_strict : atom -> bool

val said : trans -> order

val once_each : order -> order

val composed : order -> order

val told0 : order -> trans -> order

val contradicts_order : order -> trans -> bool

val came : trans -> place -> place option

val order_after : place list -> order -> trans -> order

val alike : item list -> item list -> bool

type rival = int * order

val covers : rival -> rival -> bool

val add_rival : rival -> rival list -> rival list

val led : place list -> view -> int -> rival -> int list -> rival list

type pursued = rival * rival list

val pursue_step : place list -> view -> int -> pursued -> pursued

val pursue : place list -> view -> int list -> pursued -> pursued

val spread :
  place list -> view -> int -> int list -> rival -> rival list -> rival list

val settled : pursued -> pursued -> bool

type rstep = { taken : int; entry_at : q; more : q; drawn : q; drawn' : 
               q; weights : q list; pulls : q list }

type slopes_of = { of_entry : q; of_drawn : q; of_drawn' : q }

type lstep = { base : rstep; ahead : slopes_of; behind : slopes_of }

type segment = { again : bool; steps : lstep list; drift : (int * q) list;
                 drift_r : (int * q) list }

type rcert = { r_claim : claim; r_run : segment list; r_watched : place list;
               r_hints : hints }

type numbers_of = (int * q) list

val getQ : numbers_of -> int -> q

val heldQ : numbers_of -> q -> place -> q

val valueQ : numbers_of -> q -> term -> q

val updQ : numbers_of -> trans -> q -> numbers_of

val setQ : (int * update) list -> q -> numbers_of -> numbers_of

val weighedQ : (int * q) list -> numbers_of -> q

val atom_holds : numbers_of -> q -> atom -> bool

val can_beQ : grade -> law -> q -> q -> q -> bool

type origin = (bool * int) option

type origins = (int * origin) list

val turn : bool -> origin -> origin

val same_origin : origin -> origin -> bool

val origin_of : origins -> int -> origin

val origin_at : origins -> origin -> term -> origin

val upd_origins : origins -> trans -> origin -> origins

val fresh0 : origins -> int

val is_noisy : law -> q -> bool

val sample_origin : law -> q -> origins -> origin

val roomy : numbers_of -> origins -> q -> origin -> atom -> bool

val instead : origins -> origins -> (int * origin) list

val comes_back : origins -> origins -> bool

type linear = numbers_of * q

val put_at : int -> q -> numbers_of -> numbers_of

val plus_at : int -> q -> numbers_of -> numbers_of

val add_term : q -> term -> linear -> linear

val is_new : trans -> (int * q) -> bool

val pulled : trans -> numbers_of -> linear

val add_atoms : (atom * q) list -> linear -> linear

val add_items : (item * q) list -> linear -> linear

val pulled' : (item * q) list -> q

val withinQ : law -> q -> q -> bool

val read_of : view -> rstep -> q -> q

val possible :
  grade -> automaton -> view -> rstep list -> int -> numbers_of -> numbers_of
  -> bool

val drawn_from : view -> rstep -> origins -> origin

val has_room : view -> rstep list -> numbers_of -> origins -> bool

val origins_after : view -> rstep list -> origins -> origins

val near_enough : grade -> view -> rstep list -> numbers_of -> origins -> bool

val stepped : view -> rstep -> numbers_of -> linear

val steep' : view -> rstep -> q

val back : view -> rstep list -> numbers_of -> numbers_of * (q * q) list

val check_steep : view -> q -> rstep -> (q * q) -> bool

val worth : view -> rstep list -> (q * q) list -> numbers_of -> q

val advance :
  view -> rstep list -> int -> numbers_of -> numbers_of ->
  (int * numbers_of) * numbers_of

val differing_after : view -> rstep list -> numbers_of -> numbers_of

val check_more : grade -> view -> claim -> rstep -> bool

val pattern_after : view -> rstep list -> int -> int option

val loose_term : term -> term

val loose_trans : trans -> trans

val loose_stat : stat -> stat

val loose : view -> view

val with_numbers : rstep -> slopes_of -> rstep

val bases : segment -> rstep list

val aheads : segment -> rstep list

val behinds : segment -> rstep list

val shifted_by : numbers_of -> numbers_of -> numbers_of

val stored_in : view -> rstep list -> int list

val set_in : view -> rstep list -> int list

val in_step :
  int list -> numbers_of -> numbers_of -> numbers_of -> numbers_of ->
  numbers_of -> numbers_of -> bool

val possible_in :
  grade -> automaton -> view -> segment list -> int -> numbers_of ->
  numbers_of -> numbers_of -> numbers_of -> origins -> bool

val back_in :
  view -> segment list -> numbers_of * (numbers_of * (q * q) list) list

val untouched : view -> rstep list -> numbers_of -> bool

val steep_in : view -> q -> segment -> (numbers_of * (q * q) list) -> bool

val steady_in : view -> segment list -> numbers_of -> bool

val worth_in :
  view -> segment list -> (numbers_of * (q * q) list) list -> numbers_of -> q

val follows_in : automaton -> view -> segment list -> int -> bool

val alone_in : view -> place list -> segment list -> pursued -> bool

val check_mores : grade -> view -> claim -> segment -> bool

val check_run :
  grade -> automaton -> view -> q -> (q -> bool) -> rcert -> bool

val worth_D : rcert -> q -> bool

val check_lower : grade -> automaton -> rcert -> bool

val check_growth : grade -> automaton -> rcert -> bool

type cycle = int * int

type pattern_at =
| Leaking of int
| Pair of cycle * cycle * int list
| Disclosing of cycle * int
| Violating of cycle * int list

type fcert = { f_run : int list; f_samples : segment list;
               f_where : pattern_at; f_hints : hints }

val step_at : view -> (int -> int) -> int -> trans

val is_last : view -> int -> (int -> int) -> int -> int -> int -> bool

val is_forced : view -> int -> (int -> int) -> int -> int -> bool

val is_path_on : view -> int -> (int -> int) -> int -> int list -> bool

val check_path : view -> int -> (int -> int) -> int list -> bool

val is_on : cycle -> int -> bool

val positions : cycle -> int list

val stored_on : view -> (int -> int) -> cycle -> int list

val used_on : view -> (int -> int) -> cycle -> int list

val check_cycle : view -> int -> (int -> int) -> cycle -> bool

val check_non_leaking : view -> int -> (int -> int) -> cycle -> bool

val check_leaves : cycle -> int list -> bool

val check_enters : cycle -> int list -> bool

val is_plain_term : term -> place -> bool

val shows_it : view -> (int -> int) -> int -> bool

val ends_shown : view -> (int -> int) -> int list -> bool

val check_where : view -> int -> (int -> int) -> pattern_at -> bool

val strip : int list -> int list -> int list option

val only_rounds : int -> int list -> int list -> bool

val same_nats : int list -> int list -> bool

val check_samples :
  automaton -> view -> int list -> pattern_at -> segment list -> bool

val check_paper : automaton -> view -> bool

val check_at : automaton -> view -> (int -> int) -> fcert -> bool

val check_pattern : automaton -> fcert -> bool

type spot = bool * place

val spot_of : bool -> place -> spot

val spot_eqb : spot -> spot -> bool

type limit = { most : q; unreached : bool }

val nothing_apart : limit

val sum_of : q -> q -> q

val after : limit -> limit -> limit

val at_most0 : limit -> limit -> bool

type row = limit option list

type matrix = (spot * row) list

val least : limit option -> limit option -> limit option

val pick : spot list -> row -> spot -> limit option

val row_of : matrix -> spot -> row

val between0 : matrix -> spot -> spot -> limit option

val by_way : limit -> row -> row -> row

val learn : spot -> spot -> limit -> matrix option -> matrix option

val different : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list

val unknown : spot list -> matrix option

type sight =
| Symbol of int
| Some_number
| Other_number

type letter_of = { prompted : bool; sights : sight list }

type medge = { m_source : int; m_by : int; m_letter : int; m_target : int }

type machine = { m_control : int list; m_accepting : int list;
                 m_edges : medge list; m_letters : letter_of list }

type suffixes = { s_able : int list list; s_sure : int list list;
                  s_before : ((int * int) * int) list }

type fact = { f_low : spot; f_high : spot; f_limit : limit }

type move = { mv_letter : int; mv_rest : int; mv_shift : (q * q) option;
              mv_after : int list }

type rnode = { n_first : int list; n_second : int list; n_suffix : int;
               n_facts : fact list; n_pot : q; n_moves : move list }

type witness = { w_sets : (int list * (int * int) list) list;
                 w_pairs : (int * (int * bool)) list }

type relcert = { e_claim : claim; e_machine : machine; e_suffixes : suffixes;
                 e_nodes : rnode list; e_initial : int list; e_hints : 
                 hints; e_witness : witness }

val rnode0 : rnode

val letter0 : letter_of

val b_rest : ((int * int) * int) -> int

val b_letter : ((int * int) * int) -> int

val b_class : ((int * int) * int) -> int

type pview = { control_of : (int -> int); edges_of : (int -> medge list);
               letter_at : (int -> letter_of); able_of : (int -> int list);
               sure_of : (int -> int list);
               before_of : (int -> ((int * int) * int) list);
               made_of : (int -> ((int * int) * int) list);
               node_at : (int -> rnode);
               set_at : (int -> int list * (int * int) list);
               pairs_of : (int -> (int * (int * bool)) list) }

val pgrow : relcert -> pview

val sight_of : item -> sight

val sight_eqb : sight -> sight -> bool

val is_symbol : sight -> bool

val all2 : ('a1 -> 'a2 -> bool) -> 'a1 list -> 'a2 list -> bool

val term_eqb : term -> term -> bool

val atom_eqb : atom -> atom -> bool

val number_eqb : item -> item -> bool

val spot_in : bool -> term -> spot

val learn_facts : fact list -> matrix option -> matrix option

val origin0 : trans -> spot -> (spot * q) option

val fact_follows0 : matrix -> trans -> trans -> fact -> bool

val apart : matrix -> term -> term -> q option

val same_item : matrix -> item -> item -> bool

val tight : grade -> limit -> limit

val learn_atom : grade -> bool -> atom -> matrix option -> matrix option

val learn_atoms : grade -> bool -> atom list -> matrix option -> matrix option

val goes_on : grade -> bool -> atom list list -> matrix option -> bool

val denied : atom -> atom

val denials : grade -> view -> trans -> atom list

val same_atoms : atom list -> atom list -> bool

val guard_eqb : grade -> view -> trans -> trans -> bool

val effect_eqb : grade -> view -> trans -> trans -> bool

val can_go_on : grade -> view -> bool -> trans list -> matrix option -> bool

val edge_by : pview -> int -> int -> int -> int option

val check_medge : automaton -> view -> relcert -> pview -> medge -> bool

val accepts : relcert -> int -> bool

val check_set :
  view -> relcert -> pview -> (int list * (int * int) list) -> bool

val has_pair : pview -> int -> int -> bool -> bool

val check_pair : relcert -> pview -> (int * (int * bool)) -> bool

val check_machine : automaton -> view -> relcert -> pview -> bool

val class_before : pview -> int -> int -> int option

val check_able : relcert -> pview -> bool

val spots_of : view -> bool -> int -> spot list

val always_goes_on : grade -> view -> int -> bool

val check_sure_state : grade -> view -> pview -> int -> int -> int -> bool

val check_sure : grade -> view -> relcert -> pview -> bool

val differences : relcert -> pview -> int -> q * q

val maximum : q -> q -> q

val price : law -> q -> q -> (q * q) -> (q * q) -> q option

val law_eqb : law -> law -> bool

val price_of_tie :
  grade -> stat -> stat -> (q * q) -> (q * q) option -> q option

val price_of_other : grade -> stat -> stat -> (q * q) -> bool -> q option

val shows_other_number : pview -> int -> bool

val paid :
  grade -> relcert -> pview -> stat -> stat -> int -> (q * q) option -> q
  option

val stat_eqb : stat -> stat -> bool

val stats_of : view -> pview -> int list -> stat list

val check_paid :
  grade -> view -> relcert -> pview -> rnode -> int -> move -> int list ->
  int list -> bool

type doings = (trans * int option list) list

val note : grade -> view -> trans -> int option -> doings -> doings

val doings_of : grade -> view -> pview -> int list -> int -> doings

val targets : int option list -> int list

val guards_eqb : grade -> view -> trans list -> trans list -> bool

val choices_of : grade -> view -> pview -> int list -> trans list list

val tied : (q * q) option -> matrix option -> matrix option

val spots : view -> pview -> rnode -> int list -> int list -> spot list

val check_both :
  grade -> view -> pview -> int -> move -> (trans * int list) -> (trans * int
  option list) -> matrix option -> bool

val check_move :
  grade -> view -> relcert -> pview -> rnode -> int -> int -> move -> int
  list -> int list -> bool

val can_show : pview -> int -> int -> int -> bool

val check_rnode : grade -> view -> relcert -> pview -> rnode -> bool

val is_start : relcert -> int -> rnode -> bool

val check_initial : relcert -> pview -> bool

val check_pairs : grade -> automaton -> view -> relcert -> pview -> bool

val check_relational : grade -> automaton -> relcert -> bool
