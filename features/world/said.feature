# Steps that stories of failures seldom need, so that each is played somewhere.

@said
Feature: What can be said can be played

  @objects
  Scenario: Objects from files, with their status, and what is done to them by name
    Given a cluster
    And 2 simulated nodes
    And these objects from the file "shop.yaml"
    And these objects with their status:
      """
      apiVersion: v1
      kind: Service
      metadata: {name: web}
      spec: {type: LoadBalancer, ports: [{port: 80}]}
      status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}
      """
    Then a pod of the Deployment "shop" is Running within 1m
    When "Deployment/shop" is patched from the file "shop-patch.yaml"
    And "Deployment/shop" is labelled "example.com/team=a"
    Then "node" has recorded "running" of "pods" at least 1 time within 1m
    When a pod "alone" for the Node "node-1" is created
    Then the pod "alone" is Running within 1m
    When "Pod/alone" is evicted
    Then the pod "alone" is gone within 1m
    When a pod "alone" for the Node "node-1" is created
    Then the pod "alone" is Running within 1m
    When "Node/node-1" is drained by force
    Then the pod "alone" is gone within 1m
    And this holds:
      """
      ever: true
      happens: {source: api, verb: patch, resource: services, name: web, detail: {subresource: status}}
      """

  Scenario: A node that is there breaks in one way after the other
    Given a cluster
    And a node agent "cilium" that taints its Node with "node.cilium.io/agent-not-ready:NoSchedule" from 1s to 20s after registration
    And 2 simulated nodes
    When "node" has recorded "register" of "nodes" 2 times
    And the simulated node "node-2" keeps the taint of its agent "cilium"
    And the scenario waits for 10s
    Then the Node "node-2" keeps the taint "node.cilium.io/agent-not-ready:NoSchedule" for 1m
    And the Node "node-1" is Ready within 1m
    When the simulated node "node-1" has no network, for 30s
    Then the Node "node-1" is no longer Ready within 1m
    And the Node "node-1" is Ready within 1m
    When the simulated node "node-1" is NotReady for half of every 40s, for 3m
    Then the Node "node-1" becomes NotReady at least 2 times within 3m
    When the scenario waits for 1m
    And the simulated node "node-1" stops sending heartbeats, for 2m
    Then the Node "node-1" is no longer Ready within 2m
    And the Node "node-1" is Ready within 3m

  Scenario: A node that is there loses its Node
    Given a cluster
    When a machine "a" with a simulated kubelet boots
    Then the Node "a" is Ready within 1m
    When the simulated node "a" has its Node deleted, from 10s on
    Then the Node "a" is deleted within 1m

  Scenario: Nodes that are still to come have no network for a while
    Given a cluster
    And every new simulated node has no network, from 1m on, for 30s
    When a machine "a" with a simulated kubelet boots
    Then the Node "a" is Ready within 1m
    And the Node "a" becomes NotReady at least 1 time within 2m

  Scenario: A group of the cloud is changed by hand
    Given a cluster
    And a cloud of node groups
    And these node groups:
      | name | min | max | type   |
      | best | 1   | 3   | medium |
      | next | 0   | 3   | small  |
    And the Nodes of instances that are gone are removed
    And the instance type "small" is out of stock in "zone-a"
    When the target size of the group "best" is set to 2 by hand
    Then "cloud" has recorded "running" of "instances" within 5m
    And "cloud" never records "deleted" of "instances" within 2m
    When the target size of the group "next" is set to 1 by hand
    Then "cloud" never records "running" of "instances" within 2m
    When the group "next" is removed from the cloud
    And all faults are cleared

  # Nothing calls this cloud: that each of them has its effect is shown in the tests of clouds.
  Scenario: Faults of calls that no program makes are armed and cleared
    Given a cluster
    And a Hetzner Cloud project
    And it is no error if a fault never takes effect
    And the first call "list servers" to the cloud for servers of the group "pool-a" is answered with the field "servers.status=unknown"
    And the first call "create servers" to the cloud is carried out, but not answered, from 30s on
    And the second call "create servers" to the cloud is done, and answered with "server_error", from 30s on
    And the first call "list servers" to the cloud gets a list that is 5m old
    And the first call "list servers" to the cloud gets a list that is frozen from the start of the fault, from 1m on
    And the first call "list servers" to the cloud gets a list of the first 2 only, from 2m on
    And the first call "list servers" to the cloud gets a list without those that are younger than 5m, from 3m on
    And the server type "cx32" is withdrawn in "fsn1"
    And every action "start_server" in the cloud for servers of the group "pool-a" fails after 5m
    And these faults from the file "faults.yaml"
    When the scenario waits for 1m
    And all faults are cleared

  Scenario: Deletions of instances of a group are half done
    Given a cluster
    And a cloud of node groups
    And it is no error if a fault never takes effect
    And the first instance of the group "best" is deleted without lowering its group's target size
    And the second instance of the group "best" survives its deletion, which lowers its group's target size
    And the third instance of the group "best" fails to be deleted, as does all that the same call names after it
    When the scenario waits for 1m
    And all faults are cleared

  @clusterapi
  Scenario: Calls of Cluster API break in the ways that calls can
    Given a cluster
    And Cluster API v1.9.5
    And it is no error if a fault never takes effect
    And a MachineDeployment "workers" with 1 Running machine
    When the first call "patch machines.cluster.x-k8s.io" of the program "cluster-api" breaks its connection
    And every call "list machines.cluster.x-k8s.io" of the program "cluster-api" gets a list that is frozen from the start of the fault, for 1m
    And the first call "watch machines.cluster.x-k8s.io" of the program "cluster-api" is cut off after 10s
    And the first call "watch machinesets.cluster.x-k8s.io" of the program "cluster-api" expires after 10s
    And "MachineDeployment/workers" is scaled to 2
    Then the MachineDeployment "workers" has 2 Running machines within 10m

  @measures
  Scenario: What a run comes to is bounded
    Given a cluster
    And a Hetzner Cloud project
    When a client creates the server "a" of type "cx22" in "fsn1"
    And a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m
    And the cost of the cluster within 1h is at most 0.02 EUR
    And pods wait at most 5m in total within 10m
    And no pod waits longer than 5m within 10m
    And 95 in 100 pods wait at most 5m within 10m
    And no more than 1 node is launched within 10m
    And no more than 1 pod is evicted within 10m
