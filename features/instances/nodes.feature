# What Karpenter does about Nodes that are not as their machines were configured, or never come,
# that fall ill, or that are not as their class says any more.

@karpenter
Feature: Karpenter gets by with Nodes that are not as they should be

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And a cloud of instances

  # Each is waited for a quarter of an hour. One that comes without the taint is taken all the same, with a warning.
  Scenario: Of three machines one never registers, one does so as another, and one without its taint
    Given the first new simulated node never registers
    And the second new simulated node registers with the provider ID "instances://another"
    And the third new simulated node registers without its taints
    And Karpenter with a NodePool "default"
    When a Deployment "web" of 2 pods that request 2 CPU is created
    Then this holds within 25m:
      """
      sequence:
        - as: two are launched
          match: {source: cloud, verb: LaunchInstance, code: 201}
          count: 2
        - as: as another
          match: {source: api, verb: create, resource: nodes, actor: sim-node, detail: {providerID: "instances://another"}}
          capture: {lost: name}
        - as: waited for
          absent:
            - {source: api, verb: create, resource: nodeclaims}
            - {source: api, verb: delete, resource: nodeclaims}
          for: 14m
        - as: given up
          match: {source: api, verb: delete, resource: nodeclaims, name: $lost, actor: karpenter}
          within: 2m
        - as: terminated
          match: {source: cloud, verb: TerminateInstance, name: $lost, code: 202}
      """
    And a pod of the Deployment "web" is Running within 5m
    And "karpenter" has ever sent "delete" of "nodeclaims" exactly 2 times within 1m
    And this holds:
      """
      sequence:
        - as: the warning
          match: {source: api, verb: create, resource: events, actor: karpenter, detail: {reason: UnregisteredTaintMissing}}
        - as: its pod runs
          match: {source: node, verb: running, resource: pods}
      """

  Scenario: A kubelet is not heard of any more, and Karpenter may repair
    Given the target has the environment variables:
      | FEATURE_GATES | NodeRepair=true |
    And the first new simulated node stops sending heartbeats, from 2m on
    And Karpenter with a NodePool "default"
    And "NodePool/default" is patched with:
      """
      spec: {disruption: {consolidateAfter: Never}}
      """
    When a Deployment "web" of 1 pod that requests 1 CPU is created
    Then a pod of the Deployment "web" is Running within 5m
    And this holds within 20m:
      """
      sequence:
        - as: ill
          match: {source: api, resource: nodes, detail: {ready: {matches: "Unknown.*"}}}
          capture: {ill: name}
        - as: tolerated for ten minutes
          absent: [{source: api, verb: delete, resource: nodeclaims}]
          for: 9m45s
        - as: given up
          match: {source: api, verb: delete, resource: nodeclaims, name: $ill, actor: karpenter}
          within: 1m
        - as: terminated
          match: {source: cloud, verb: TerminateInstance, name: $ill, code: 202}
      """
    And a pod of the Deployment "web" is Running within 5m

  Scenario: A class names an image that the cloud does not have, and then another one
    Given Karpenter with a NodePool "default"
    When a Deployment "web" of 1 pod that requests 3 CPU is created
    Then a pod of the Deployment "web" is Running within 5m
    When "FakeNodeClass/default" is patched with:
      """
      spec: {image: none}
      """
    And a pod "api" that requests 3 CPU is created once "karpenter" has sent "patch" of "fakenodeclasses/status"
    Then "karpenter" never sends "create" of "nodeclaims" within 2m
    And this holds:
      """
      ever: true
      never: {source: api, verb: patch, resource: nodeclaims, detail: {conditions.Drifted: {exists: true}}}
      """
    When "FakeNodeClass/default" is patched with:
      """
      spec: {image: linux-next}
      """
    Then the pod "api" is Running within 5m
    And this holds within 10m:
      """
      sequence:
        - as: drifted
          match: {source: api, verb: patch, resource: nodeclaims, actor: karpenter, detail: {conditions.Drifted: {contains: ImageDrift}}}
          capture: {old: name}
        - as: replaced
          match: {source: api, verb: create, resource: nodeclaims, actor: karpenter}
          capture: {new: name}
        - as: by one that is there
          match: {source: api, resource: nodes, name: $new, detail: {initialized: true}}
        - as: given up
          match: {source: api, verb: delete, resource: nodeclaims, name: $old, actor: karpenter}
        - as: terminated
          match: {source: cloud, verb: TerminateInstance, name: $old, code: 202}
      """
    And a pod of the Deployment "web" is Running within 5m
