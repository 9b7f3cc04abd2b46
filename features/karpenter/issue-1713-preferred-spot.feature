# https://github.com/kubernetes-sigs/descheduler/issues/1713, which a cluster with Cluster Autoscaler reports.

@karpenter @issue-1713
Feature: The descheduler moves a pod to the machines that it prefers, and no machine is launched in vain

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 5s later
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: on-demand}
      spec:
        disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      """
    # It runs where it can, as there is no spot capacity yet.
    And these objects:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 1
        selector: {matchLabels: {app: web}}
        template:
          metadata:
            labels: {app: web}
            annotations: {nodestorm.sim/stop-after: 20s}
          spec:
            affinity:
              nodeAffinity:
                preferredDuringSchedulingIgnoredDuringExecution:
                  - weight: 100
                    preference: {matchExpressions: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]}
            containers: [{name: web, image: web, resources: {requests: {cpu: "3"}}}]
      """
    And "node" has recorded "running" of "pods"
    And these objects:
      """
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: spot}
      spec:
        disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
      """

  @karpenter-1713-preferred-spot
  Scenario: The only spot machine has no room
    Given these objects:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: batch}
      spec:
        nodeSelector: {karpenter.sh/capacity-type: spot}
        containers: [{name: batch, image: batch, resources: {requests: {cpu: "3"}}}]
      """
    And "node" has recorded "running" of "pods" 2 times
    When the descheduler v0.36.0 runs every 5m with this policy:
      """
      apiVersion: descheduler/v1alpha2
      kind: DeschedulerPolicy
      profiles:
        - name: default
          pluginConfig:
            - name: DefaultEvictor
            - name: RemovePodsViolatingNodeAffinity
              args: {nodeAffinityType: [preferredDuringSchedulingIgnoredDuringExecution]}
          plugins:
            deschedule: {enabled: [RemovePodsViolatingNodeAffinity]}
      """
    Then 30m from now, exactly 2 NodeClaims have been created since the start

  @karpenter-1713-node-fit
  Scenario: The only spot machine has no room, and the descheduler looks for room before it evicts
    Given these objects:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: batch}
      spec:
        nodeSelector: {karpenter.sh/capacity-type: spot}
        containers: [{name: batch, image: batch, resources: {requests: {cpu: "3"}}}]
      """
    And "node" has recorded "running" of "pods" 2 times
    When the descheduler v0.36.0 runs every 5m with this policy:
      """
      apiVersion: descheduler/v1alpha2
      kind: DeschedulerPolicy
      profiles:
        - name: default
          pluginConfig:
            - name: DefaultEvictor
              args: {nodeFit: true}
            - name: RemovePodsViolatingNodeAffinity
              args: {nodeAffinityType: [preferredDuringSchedulingIgnoredDuringExecution]}
          plugins:
            deschedule: {enabled: [RemovePodsViolatingNodeAffinity]}
      """
    Then 30m from now, exactly 2 NodeClaims have been created since the start

  @karpenter-1713-room
  Scenario: The spot machine has room, and the pod moves once
    Given these objects:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: batch}
      spec:
        nodeSelector: {karpenter.sh/capacity-type: spot}
        containers: [{name: batch, image: batch, resources: {requests: {cpu: 500m}}}]
      """
    And "node" has recorded "running" of "pods" 2 times
    When the descheduler v0.36.0 runs every 5m with this policy:
      """
      apiVersion: descheduler/v1alpha2
      kind: DeschedulerPolicy
      profiles:
        - name: default
          pluginConfig:
            - name: DefaultEvictor
            - name: RemovePodsViolatingNodeAffinity
              args: {nodeAffinityType: [preferredDuringSchedulingIgnoredDuringExecution]}
          plugins:
            deschedule: {enabled: [RemovePodsViolatingNodeAffinity]}
      """
    Then 30m from now, exactly 2 NodeClaims have been created since the start
    And "descheduler" has ever sent "create" of "pods/eviction" exactly 1 time within 1s
