# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2488

@karpenter @issue-2488
Feature: No machine is launched for a pod whose volume is on its way out

  @karpenter-2488-claim-being-deleted
  Scenario: A claim is deleted, and something holds it
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        disruption: {consolidateAfter: 30s}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      ---
      apiVersion: storage.k8s.io/v1
      kind: CSIDriver
      metadata: {name: disk.example.com}
      spec: {attachRequired: false}
      ---
      apiVersion: storage.k8s.io/v1
      kind: StorageClass
      metadata: {name: later}
      provisioner: disk.example.com
      volumeBindingMode: WaitForFirstConsumer
      ---
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: data, namespace: default, finalizers: [example.com/backup]}
      spec:
        accessModes: [ReadWriteOnce]
        storageClassName: later
        resources: {requests: {storage: 1Gi}}
      """
    And "PersistentVolumeClaim/data" is deleted
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: db, namespace: default}
      spec:
        containers: [{name: main, image: main, resources: {requests: {cpu: 3}}, volumeMounts: [{name: data, mountPath: /data}]}]
        volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
      """
    And a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 2m
    And 5m from now, exactly 1 NodeClaim has been created since the start
